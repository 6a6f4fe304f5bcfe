/** A seller on the current official middleware for Express. */
import { HTTPFacilitatorClient, type RoutesConfig, x402ResourceServer } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware } from '@x402/express';
import { bazaarResourceServerExtension, declareDiscoveryExtension } from '@x402/extensions/bazaar';
import express from 'express';
import type { ServerCertificate } from '../tls/test-ca.ts';
import { startFacilitatorServer } from './facilitator-server.ts';
import { SELLER_PAY_TO, type Seller, serve } from './seller.ts';
import {
  discoveryDocuments,
  openApiDocument,
  type SellerDocument,
  SUMMARY,
  WEATHER,
} from './seller-documents.ts';

export interface ExpressV2Options {
  /** Default: a facilitator that refuses every payment, stopped with the seller. */
  facilitatorUrl?: string;
  /** Serves `/openapi.json`. */
  withOpenApi?: boolean;
  /** Serves llms.txt, robots.txt, agent card, manifest, icon and a root page that leads to OpenAPI. */
  withDocuments?: boolean;
  /** Declares the bazaar extension on the paid routes. */
  withBazaar?: boolean;
  /** Answers 402 to HEAD as well; as the middleware comes, HEAD runs the paid handler unpaid. */
  guardsHead?: boolean;
  /** Default: `SELLER_PAY_TO`. */
  payTo?: `0x${string}`;
  /** Over http without it. */
  tls?: ServerCertificate;
}

/** Sells GET /weather and POST /summaries; GET /health is free. Bare middleware unless told more. */
export async function startExpressV2Seller(options: ExpressV2Options = {}): Promise<Seller> {
  const { facilitatorUrl, tls } = options;
  const facilitator = facilitatorUrl === undefined ? await startFacilitatorServer() : null;
  const client = new HTTPFacilitatorClient({ url: facilitatorUrl ?? facilitator?.url ?? '' });
  const server = new x402ResourceServer(client)
    .register('eip155:8453', new ExactEvmScheme())
    .registerExtension(bazaarResourceServerExtension);
  await server.initialize();

  const app = express();
  app.use(paymentMiddleware(routes(options), server, undefined, undefined, false));
  app.use(express.json());
  app.get('/health', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get(WEATHER.path, ({ query }, response) => {
    response.json({ city: query['city'] ?? 'Lisbon', sky: 'clear' });
  });
  app.post(SUMMARY.path, ({ body }, response) => {
    response.json({ summary: JSON.stringify(body).slice(0, 100) });
  });
  app.use(({ path, protocol, headers }, response, next) => {
    const documents = documentsOf(`${protocol}://${headers.host}`, options);
    const document = documents.find((one) => one.path === path);
    if (document === undefined) next();
    else response.type(document.type).send(document.body);
  });

  const seller = await serve(app, tls);
  return {
    url: seller.url,
    async stop() {
      await seller.stop();
      await facilitator?.stop();
    },
  };
}

/** `url` is where the buyer of this request came to. */
function documentsOf(url: string, options: ExpressV2Options): SellerDocument[] {
  return [
    ...(options.withOpenApi ? [openApiDocument(url)] : []),
    ...(options.withDocuments ? discoveryDocuments(url) : []),
  ];
}

function routes({ withBazaar, guardsHead, payTo = SELLER_PAY_TO }: ExpressV2Options): RoutesConfig {
  const price = (usd: string) =>
    ({ scheme: 'exact', network: 'eip155:8453', payTo, price: `$${usd}` }) as const;
  const weather = {
    accepts: price(WEATHER.price),
    description: WEATHER.about,
    mimeType: 'application/json',
    extensions: withBazaar
      ? declareDiscoveryExtension({
          input: { city: 'Lisbon' },
          inputSchema: { properties: { city: { type: 'string' } } },
          output: { example: { city: 'Lisbon', sky: 'clear' } },
        })
      : {},
  };
  const summaries = {
    accepts: price(SUMMARY.price),
    description: SUMMARY.about,
    mimeType: 'application/json',
    extensions: withBazaar
      ? declareDiscoveryExtension({
          bodyType: 'json',
          input: { text: 'A long text.' },
          inputSchema: { properties: { text: { type: 'string' } }, required: ['text'] },
          output: { example: { summary: 'A text.' } },
        })
      : {},
  };
  return {
    'GET /weather': weather,
    'POST /summaries': summaries,
    ...(guardsHead ? { 'HEAD /weather': weather } : {}),
  };
}
