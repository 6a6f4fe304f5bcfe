/** A seller on the first generation's middleware, of which many are still up: x402 version 1 only. */
import express from 'express';
import { paymentMiddleware } from 'x402-express';
import { startFacilitatorServer } from './facilitator-server.ts';
import { SELLER_PAY_TO, type Seller, serve } from './seller.ts';
import { openApiDocument, SUMMARY, WEATHER } from './seller-documents.ts';

export interface ExpressV1Options {
  /** Serves `/openapi.json`; there are no documents otherwise. */
  withOpenApi?: boolean;
}

/** Sells GET /weather and POST /summaries on "base". */
export async function startExpressV1Seller({
  withOpenApi = false,
}: ExpressV1Options = {}): Promise<Seller> {
  const facilitator = await startFacilitatorServer();
  const paid = ({ price, about }: typeof WEATHER | typeof SUMMARY) => ({
    price: `$${price}`,
    network: 'base' as const,
    config: { description: about, mimeType: 'application/json' },
  });
  const app = express();
  app.use(
    paymentMiddleware(
      SELLER_PAY_TO,
      { 'GET /weather': paid(WEATHER), 'POST /summaries': paid(SUMMARY) },
      { url: `http://${new URL(facilitator.url).host}` },
    ),
  );
  app.get(WEATHER.path, (_request, response) => {
    response.json({ city: 'Lisbon', sky: 'clear' });
  });
  app.post(SUMMARY.path, (_request, response) => {
    response.json({ summary: 'A text.' });
  });
  if (withOpenApi) {
    app.get('/openapi.json', ({ protocol, headers }, response) => {
      const { type, body } = openApiDocument(`${protocol}://${headers.host}`);
      response.type(type).send(body);
    });
  }
  const seller = await serve(app);
  return {
    url: seller.url,
    async stop() {
      await seller.stop();
      await facilitator.stop();
    },
  };
}
