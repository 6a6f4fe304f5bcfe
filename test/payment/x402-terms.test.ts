/** What a 402 says, held to the official packages, which the service does not load to say it. */
import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http';
import type { PaymentRequired, SettleResponse } from '@x402/core/types';
import { declareDiscoveryExtension } from '@x402/extensions/bazaar';
import {
  declarePaymentIdentifierExtension,
  isValidPaymentId,
  PAYMENT_IDENTIFIER,
} from '@x402/extensions/payment-identifier';
import { expect, test } from 'vitest';
import * as ours from '../../src/payment/gate/x402-terms.ts';

const DISCOVERY = {
  input: { url: 'https://api.example.com', limit: '1' },
  inputSchema: { properties: { url: { type: 'string' } }, required: ['url'] },
  output: {
    example: { count: 0, host: 'ü.example' },
    schema: { properties: { count: { type: 'integer' } }, required: ['count'] },
  },
};

test.each(['GET', 'POST'] as const)('a route of %s is discovered as theirs', (method) => {
  const theirs = declareDiscoveryExtension(
    method === 'GET' ? DISCOVERY : { ...DISCOVERY, bodyType: 'json' },
  )['bazaar'];
  const { info, schema } = ours.discoveryExtension({ discovery: DISCOVERY, method });
  expect(JSON.stringify(schema)).toBe(JSON.stringify(theirs?.schema));
  // Their own server fills in the method.
  expect(info).toEqual({ ...theirs?.info, input: { ...theirs?.info.input, method } });
});

test('payments are named as theirs', () => {
  expect(ours.PAYMENT_IDENTIFIER).toBe(PAYMENT_IDENTIFIER);
  expect(JSON.stringify(ours.paymentIdentifierExtension())).toBe(
    JSON.stringify(declarePaymentIdentifierExtension()),
  );
});

test.each([
  'a'.repeat(15),
  'a'.repeat(16),
  'a'.repeat(128),
  'a'.repeat(129),
  'pay_7d5d747be160e280504c099d984bcfe0',
  'pay_7d5d747be160e280.04c099d984bcfe0',
  'pay_7d5d747be160e280504c099d984bcfe0\n',
  'päy_7d5d747be160e280504c099d984bcfe0',
  '',
  7,
  null,
])('%j is a name of a payment for both, or for neither', (id) => {
  expect(ours.isPaymentIdentifier(id)).toBe(isValidPaymentId(id as string)); // it takes anything
});

test('headers are encoded as theirs', () => {
  const required: PaymentRequired = {
    x402Version: 2,
    error: 'payment_required: übersetzt 🜁',
    resource: { url: 'https://api.example.com/a', description: '', mimeType: 'application/json' },
    accepts: [],
  };
  expect(ours.encodeHeader(required)).toBe(encodePaymentRequiredHeader(required));
  const settled: SettleResponse = {
    success: true,
    transaction: '0x1',
    network: 'eip155:8453',
    payer: '0x2',
  };
  expect(ours.encodeHeader(settled)).toBe(encodePaymentResponseHeader(settled));
});
