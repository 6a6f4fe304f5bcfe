import { describe, expect, test } from 'vitest';
import { PaymentRefused } from '../../src/payment/gate/answers.ts';
import { decodePayment, MAX_PAYMENT_HEADER_LENGTH } from '../../src/payment/gate/payment-header.ts';
import { encode, newPayer, TERMS } from './payer.ts';

const payer = newPayer();
const signed = await payer.sign({ value: 50_000n });
const other = await payer.sign({ value: 50_000n });

type Json = Record<string, unknown>;

function changed(change: (payload: Json & { payload: Json & { authorization: Json } }) => void) {
  const payload = structuredClone(signed.payload) as Json & {
    payload: Json & { authorization: Json };
  };
  change(payload);
  return encode(payload);
}

function refusalOf(headers: Parameters<typeof decodePayment>[0]): string {
  try {
    decodePayment(headers, TERMS);
  } catch (error) {
    if (error instanceof PaymentRefused && error.code === 'invalid_payment') return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

describe('a payment header', () => {
  test('of version 2 is read with all signed members', () => {
    const payment = decodePayment({ 'payment-signature': [signed.header] }, TERMS);
    expect(payment).toMatchObject({
      authorization: { from: payer.address, value: 50_000n, validAfter: 0n, nonce: signed.nonce },
      accepted: { scheme: 'exact', network: 'eip155:8453', amount: '50000' },
      identifier: null,
      hasLegacyHeader: false,
    });
  });

  test('of version 1 is read as the same payment, with the CAIP-2 name of its network', () => {
    const payment = decodePayment({ 'x-payment': [signed.v1] }, TERMS);
    const current = decodePayment({ 'payment-signature': [signed.header] }, TERMS);
    expect(payment.authorization).toEqual(current.authorization);
    expect(payment.signature).toBe(current.signature);
    expect(payment.accepted).toEqual({
      scheme: 'exact',
      network: 'eip155:8453',
      asset: null,
      amount: null,
      payTo: null,
    });
    expect(payment.hasLegacyHeader).toBe(true);
  });

  test('may be sent in the headers of both versions if they have the same content', () => {
    const headers = { 'payment-signature': [signed.header], 'x-payment': [signed.v1] };
    expect(decodePayment(headers, TERMS).hasLegacyHeader).toBe(true);
    expect(refusalOf({ 'payment-signature': [signed.header], 'x-payment': [other.v1] })).toContain(
      'different payments',
    );
    const cheaper = changed((payload) =>
      Object.assign(payload['accepted'] as Json, { amount: '1' }),
    );
    expect(refusalOf({ 'payment-signature': [signed.header], 'x-payment': [cheaper] })).toContain(
      'different payments',
    );
  });

  test('keeps a signature in one spelling', () => {
    const header = changed(({ payload }) => {
      const digits = String(payload['signature']).slice(2).toUpperCase();
      Object.assign(payload, { signature: `0x${digits}` });
    });
    const known = decodePayment({ 'payment-signature': [signed.header] }, TERMS);
    expect(decodePayment({ 'payment-signature': [header] }, TERMS).signature).toBe(known.signature);
  });

  test('keeps a nonce in one spelling', () => {
    const header = changed(({ payload }) => {
      payload.authorization['nonce'] = signed.nonce.toUpperCase().replace('0X', '0x');
    });
    expect(decodePayment({ 'payment-signature': [header] }, TERMS).authorization.nonce).toBe(
      signed.nonce,
    );
  });

  test('may have at most 8,192 characters', () => {
    const padded = (length: number) => {
      const fill = (text: string) => encode({ ...signed.payload, resource: { url: text } });
      let text = '';
      while (fill(text).length < length) text += 'x';
      return fill(text);
    };
    const longest = padded(MAX_PAYMENT_HEADER_LENGTH);
    expect(longest).toHaveLength(MAX_PAYMENT_HEADER_LENGTH);
    expect(decodePayment({ 'payment-signature': [longest] }, TERMS).accepted.scheme).toBe('exact');
    expect(refusalOf({ 'payment-signature': [padded(MAX_PAYMENT_HEADER_LENGTH + 1)] })).toContain(
      'over 8192',
    );
  });
});

describe('a malformed payment is refused with the name of the fault', () => {
  const withAuthorization = (name: string, value: unknown) =>
    changed(({ payload }) => {
      payload.authorization[name] = value;
    });
  const base64 = 'is not standard base64';
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['two lines', [signed.header, signed.header], 'one header line'],
    ['two headers joined by a comma', [`${signed.header}, ${signed.header}`], base64],
    ['nothing', [''], base64],
    ['base64url', [encode('{"a":"???>>>~~~"}').replaceAll('/', '_').replaceAll('+', '-')], base64],
    ['missing padding', [encode('{"a":1}').replaceAll('=', '')], base64],
    ['a blank inside', [`${signed.header.slice(0, 8)} ${signed.header.slice(8)}`], base64],
    ['trailing bits', ['QR=='], base64],
    ['no JSON', [encode('{"a":')], 'not base64 of UTF-8 JSON'],
    ['no UTF-8', [Buffer.from([0x22, 0xff, 0x22]).toString('base64')], 'UTF-8'],
    ['an array', [encode([signed.payload])], 'JSON object'],
    ['null', [encode('null')], 'JSON object'],
    ['version 3', [changed((p) => Object.assign(p, { x402Version: 3 }))], 'x402Version'],
    ['a version as text', [changed((p) => Object.assign(p, { x402Version: '2' }))], 'x402Version'],
    ['no accepted', [changed((p) => Object.assign(p, { accepted: undefined }))], 'accepted'],
    ['no payload', [encode({ ...signed.payload, payload: 7 })], 'payload'],
    ['a number as value', [withAuthorization('value', 50_000)], 'value'],
    ['a negative value', [withAuthorization('value', '-1')], 'value'],
    ['a value in hex', [withAuthorization('value', '0xc350')], 'value'],
    ['a value over uint256', [withAuthorization('value', `${1n << 256n}`)], 'value'],
    ['a from that is too short', [withAuthorization('from', '0x12')], 'from'],
    ['no to', [withAuthorization('to', undefined)], 'to'],
    ['a nonce that is too short', [withAuthorization('nonce', '0x12')], 'nonce'],
    ['validBefore as a date', [withAuthorization('validBefore', '2026-01-01')], 'validBefore'],
    [
      'a signature with an odd number of digits',
      [changed(({ payload }) => Object.assign(payload, { signature: '0x123' }))],
      'signature',
    ],
    [
      'an empty signature',
      [changed(({ payload }) => Object.assign(payload, { signature: '0x' }))],
      'signature',
    ],
  ];

  test.each(cases)('%s', (_name, lines, named) => {
    expect(refusalOf({ 'payment-signature': lines })).toContain(named);
  });

  test('in either header', () => {
    expect(refusalOf({ 'payment-signature': [signed.header], 'x-payment': ['?'] })).toContain(
      'X-PAYMENT',
    );
  });
});
