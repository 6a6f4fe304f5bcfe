/**
 * What a 402 says beside its prices, as the official packages write it: they bring validators along,
 * whose hundred modules a start would wait for. A test holds every word of it to the packages.
 */
import type { PaymentRequired, SettleResponse } from '@x402/core/types';
import type { PaidRoute } from '../paid-route.ts';

export const PAYMENT_IDENTIFIER = 'payment-identifier';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
const IDENTIFIER = { minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' } as const;
const IDENTIFIER_FORM = new RegExp(IDENTIFIER.pattern);

/** Payers may name their payment, and need not. */
export function paymentIdentifierExtension() {
  return {
    info: { required: false },
    schema: {
      $schema: DRAFT,
      type: 'object',
      properties: { required: { type: 'boolean' }, id: { type: 'string', ...IDENTIFIER } },
      required: ['required'],
    },
  };
}

export function isPaymentIdentifier(id: unknown): id is string {
  if (typeof id !== 'string') return false;
  const { minLength, maxLength } = IDENTIFIER;
  return id.length >= minLength && id.length <= maxLength && IDENTIFIER_FORM.test(id);
}

/** How a route is called and what it answers, for indexes of paid resources. */
export function discoveryExtension({ discovery, method }: Pick<PaidRoute, 'discovery' | 'method'>) {
  const { input, inputSchema, output } = discovery;
  const http = { type: { type: 'string', const: 'http' } };
  const [given, properties, required] =
    method === 'GET'
      ? [
          { queryParams: { ...input } },
          {
            ...http,
            method: { type: 'string', enum: ['GET', 'HEAD', 'DELETE'] },
            queryParams: { type: 'object', ...inputSchema },
          },
          ['type', 'method'],
        ]
      : [
          { bodyType: 'json', body: { ...input } },
          {
            ...http,
            method: { type: 'string', enum: ['POST', 'PUT', 'PATCH'] },
            bodyType: { type: 'string', enum: ['json', 'form-data', 'text'] },
            body: { ...inputSchema },
          },
          ['type', 'method', 'bodyType', 'body'],
        ];
  return {
    info: {
      input: { type: 'http', ...given, method },
      output: { type: 'json', example: output.example },
    },
    schema: {
      $schema: DRAFT,
      type: 'object',
      properties: {
        input: { type: 'object', properties, required, additionalProperties: false },
        output: {
          type: 'object',
          properties: {
            type: { type: 'string' },
            example: { type: 'object', ...output.schema },
          },
          required: ['type'],
        },
      },
      required: ['input'],
    },
  };
}

/** As `PAYMENT-REQUIRED` and `PAYMENT-RESPONSE` carry it. */
export function encodeHeader(value: PaymentRequired | SettleResponse): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64');
}
