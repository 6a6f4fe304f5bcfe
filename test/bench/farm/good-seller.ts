/** A seller that is right in everything, and far away. */
import type { RequestListener } from 'node:http';
import { TLSSocket } from 'node:tls';
import { SELLER_PAY_TO } from '../../fixtures/sellers/seller.ts';
import {
  discoveryDocuments,
  openApiDocument,
  type SellerDocument,
  SUMMARY,
  WEATHER,
} from '../../fixtures/sellers/seller-documents.ts';

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

/** All documents and two paid operations, answered after a delay, as from another continent. */
export function goodSeller(delayMs: number): RequestListener {
  let known: readonly SellerDocument[] | null = null;
  return (request, response) => {
    const scheme = request.socket instanceof TLSSocket ? 'https' : 'http';
    const url = `${scheme}://${request.headers.host}`;
    const path = request.url ?? '/';
    setTimeout(() => {
      const sold = [WEATHER, SUMMARY].find((one) => one.path === path);
      if (sold !== undefined) {
        response.writeHead(402, {
          'content-type': 'application/json',
          'payment-required': challenge(url, sold),
        });
        response.end('{}');
        return;
      }
      known ??= [openApiDocument(url), ...discoveryDocuments(url)];
      const document = known.find((one) => one.path === path);
      response.writeHead(document === undefined ? 404 : 200, {
        'content-type': document?.type ?? 'text/plain',
      });
      response.end(document?.body ?? 'Nothing here.');
    }, delayMs);
  };
}

function challenge(url: string, sold: typeof WEATHER | typeof SUMMARY): string {
  const amount = String(Math.round(Number(sold.price) * 1e6));
  const accepted = {
    scheme: 'exact',
    network: 'eip155:8453',
    asset: USDC,
    amount,
    payTo: SELLER_PAY_TO,
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
  };
  const required = {
    x402Version: 2,
    error: 'Payment required',
    resource: { url: url + sold.path, description: sold.about, mimeType: 'application/json' },
    accepts: [accepted],
  };
  return Buffer.from(JSON.stringify(required)).toString('base64');
}
