/** The challenge of a crafted seller, and the answers that carry it, right or wrong. */
import { SELLER_PAY_TO } from '../sellers/seller.ts';
import type { SUMMARY, WEATHER } from '../sellers/seller-documents.ts';
import type { CraftedAnswer } from './crafted-seller.ts';

/** USDC on Base, as Circle's contract states itself. */
export const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

export type CraftedOffer = Readonly<Record<string, unknown>>;

export type CraftedChallenge = Readonly<Record<string, unknown>> & {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly accepts: readonly CraftedOffer[];
};

export type Sold = typeof WEATHER | typeof SUMMARY;

export function offerOf({ price }: Pick<Sold, 'price'>): CraftedOffer {
  return {
    scheme: 'exact',
    network: 'eip155:8453',
    amount: String(Math.round(Number(price) * 1_000_000)),
    asset: USDC,
    payTo: SELLER_PAY_TO,
    maxTimeoutSeconds: 60,
    extra: { name: 'USD Coin', version: '2' },
  };
}

/** Valid x402 v2, with the bazaar extension where a body is due. */
export function challengeOf(sold: Sold, origin: string): CraftedChallenge {
  return {
    x402Version: 2,
    error: 'Payment required',
    resource: {
      url: origin + sold.path,
      description: sold.about,
      mimeType: 'application/json',
    },
    accepts: [offerOf(sold)],
    ...(sold.method === 'post' ? { extensions: { bazaar: BAZAAR } } : {}),
  };
}

/** The same terms by the names of version 1. */
export function versionOne(sold: Sold, origin: string): object {
  const { amount, ...rest } = offerOf(sold);
  return {
    x402Version: 1,
    error: 'X-PAYMENT header is required',
    accepts: [
      {
        ...rest,
        network: 'base',
        maxAmountRequired: amount,
        resource: origin + sold.path,
        description: sold.about,
        mimeType: 'application/json',
      },
    ],
  };
}

/** A 402 as it should be: the challenge in the header, nothing in the body, cached nowhere. */
export function challengeAnswer(challenge: object): CraftedAnswer {
  return headerAnswer(Buffer.from(JSON.stringify(challenge)).toString('base64'));
}

/** A 402 whose PAYMENT-REQUIRED has this very value. */
export function headerAnswer(value: string, body: unknown = {}): CraftedAnswer {
  return {
    status: 402,
    headers: {
      'payment-required': value,
      'content-type': 'application/json',
      'cache-control': 'no-store',
    },
    body,
  };
}

/** A 402 that says it in the body alone. */
export function bodyAnswer(challenge: object): CraftedAnswer {
  return {
    status: 402,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: challenge,
  };
}

const BAZAAR = {
  info: {
    input: { type: 'http', method: 'POST', bodyType: 'json', body: { text: 'A long text.' } },
    output: { type: 'json', example: { summary: 'A text.' } },
  },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: ['input'],
    properties: {
      input: {
        type: 'object',
        required: ['type', 'method', 'bodyType', 'body'],
        properties: {
          type: { type: 'string', const: 'http' },
          method: { type: 'string', enum: ['POST', 'PUT', 'PATCH'] },
          bodyType: { type: 'string', enum: ['json', 'form-data', 'text'] },
          body: {
            type: 'object',
            required: ['text'],
            properties: { text: { type: 'string' } },
          },
        },
        additionalProperties: false,
      },
      output: { type: 'object', properties: { type: { type: 'string' }, example: {} } },
    },
  },
};
