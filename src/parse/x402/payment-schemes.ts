import type { OpenApiFacts, SecurityScheme } from '../openapi/openapi.ts';

export type PaymentSchemes = {
  /** Names of schemes that declare x402 itself. */
  readonly x402: readonly string[];
  /** Names of apiKey schemes that use a payment header. */
  readonly apiKeys: readonly string[];
};

const PAYMENT_HEADERS: ReadonlySet<string> = new Set(['payment-signature', 'x-payment']);

/** Finds the security schemes of an OpenAPI document that mean payment over x402. */
export function paymentSchemes({ securitySchemes }: OpenApiFacts): PaymentSchemes {
  return {
    x402: securitySchemes.filter(isX402).map(({ name }) => name),
    apiKeys: securitySchemes.filter(isPaymentKey).map(({ name }) => name),
  };
}

function isX402({ name, type, scheme }: SecurityScheme): boolean {
  if (type === 'http' && scheme.toLowerCase() === 'x402') return true;
  return name.toLowerCase() === 'x402' && type !== 'apiKey' && type !== '';
}

function isPaymentKey({ name, type, parameter }: SecurityScheme): boolean {
  if (type !== 'apiKey') return false;
  return name.toLowerCase() === 'x402' || PAYMENT_HEADERS.has(parameter.toLowerCase());
}
