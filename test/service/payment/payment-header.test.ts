import { describe, expect, test } from 'vitest';
import {
  decodePayment,
  MAX_PAYMENT_HEADER_LENGTH,
} from '../../../src/service/payment/gate/payment-header.ts';
import { PaymentRefused } from '../../../src/service/payment/gate/refusals.ts';
import { encode, newPayer, TERMS } from './payer.ts';

const payer = newPayer();
const signed = await payer.sign({ value: 50_000n });
const otherSigned = await payer.sign({ value: 50_000n });

type Json = Record<string, unknown>;

function encodeChanged(
  change: (payload: Json & { payload: Json & { authorization: Json } }) => void,
) {
  const payload = structuredClone(signed.payload) as Json & {
    payload: Json & { authorization: Json };
  };
  change(payload);
  return encode(payload);
}

function refusalMessage(headers: Parameters<typeof decodePayment>[0]): string {
  try {
    decodePayment(headers, TERMS);
  } catch (error) {
    if (error instanceof PaymentRefused && error.code === 'invalid_payment') return error.message;
    throw error;
  }
  throw new Error('the header was accepted');
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
    expect(
      refusalMessage({ 'payment-signature': [signed.header], 'x-payment': [otherSigned.v1] }),
    ).toContain('different payments');
    const cheaper = encodeChanged((payload) =>
      Object.assign(payload['accepted'] as Json, { amount: '1' }),
    );
    expect(
      refusalMessage({ 'payment-signature': [signed.header], 'x-payment': [cheaper] }),
    ).toContain('different payments');
  });

  test('with an upper-case signature gives the signature in lower case', () => {
    const header = encodeChanged(({ payload }) => {
      const digits = String(payload['signature']).slice(2).toUpperCase();
      Object.assign(payload, { signature: `0x${digits}` });
    });
    const lowerCase = decodePayment({ 'payment-signature': [signed.header] }, TERMS);
    expect(decodePayment({ 'payment-signature': [header] }, TERMS).signature).toBe(
      lowerCase.signature,
    );
  });

  test('with an upper-case nonce gives the nonce in lower case', () => {
    const header = encodeChanged(({ payload }) => {
      payload.authorization['nonce'] = signed.nonce.toUpperCase().replace('0X', '0x');
    });
    expect(decodePayment({ 'payment-signature': [header] }, TERMS).authorization.nonce).toBe(
      signed.nonce,
    );
  });

  test('may have at most 8,192 characters', () => {
    const encodePadded = (length: number) => {
      const encodeWithUrl = (text: string) =>
        encode({ ...signed.payload, resource: { url: text } });
      let text = '';
      while (encodeWithUrl(text).length < length) text += 'x';
      return encodeWithUrl(text);
    };
    const longest = encodePadded(MAX_PAYMENT_HEADER_LENGTH);
    expect(longest).toHaveLength(MAX_PAYMENT_HEADER_LENGTH);
    expect(decodePayment({ 'payment-signature': [longest] }, TERMS).accepted.scheme).toBe('exact');
    expect(
      refusalMessage({ 'payment-signature': [encodePadded(MAX_PAYMENT_HEADER_LENGTH + 1)] }),
    ).toContain('over 8192');
  });
});

describe('a malformed payment is refused with the name of the fault', () => {
  const withAuthorization = (name: string, value: unknown) =>
    encodeChanged(({ payload }) => {
      payload.authorization[name] = value;
    });
  const notBase64 = 'is not standard base64';
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['two header lines', [signed.header, signed.header], 'one header line'],
    ['two headers joined by a comma', [`${signed.header}, ${signed.header}`], notBase64],
    ['an empty line', [''], notBase64],
    [
      'base64url',
      [encode('{"a":"???>>>~~~"}').replaceAll('/', '_').replaceAll('+', '-')],
      notBase64,
    ],
    ['missing padding', [encode('{"a":1}').replaceAll('=', '')], notBase64],
    ['a blank inside', [`${signed.header.slice(0, 8)} ${signed.header.slice(8)}`], notBase64],
    ['trailing bits', ['QR=='], notBase64],
    ['text that is not JSON', [encode('{"a":')], 'not base64 of UTF-8 JSON'],
    ['bytes that are not UTF-8', [Buffer.from([0x22, 0xff, 0x22]).toString('base64')], 'UTF-8'],
    ['an array', [encode([signed.payload])], 'JSON object'],
    ['null', [encode('null')], 'JSON object'],
    ['version 3', [encodeChanged((p) => Object.assign(p, { x402Version: 3 }))], 'x402Version'],
    [
      'a version as text',
      [encodeChanged((p) => Object.assign(p, { x402Version: '2' }))],
      'x402Version',
    ],
    [
      'a missing accepted',
      [encodeChanged((p) => Object.assign(p, { accepted: undefined }))],
      'accepted',
    ],
    ['a number as payload', [encode({ ...signed.payload, payload: 7 })], 'payload'],
    ['a number as value', [withAuthorization('value', 50_000)], 'value'],
    ['a negative value', [withAuthorization('value', '-1')], 'value'],
    ['a value in hex', [withAuthorization('value', '0xc350')], 'value'],
    ['a value over uint256', [withAuthorization('value', `${1n << 256n}`)], 'value'],
    ['a from that is too short', [withAuthorization('from', '0x12')], 'from'],
    ['a missing to', [withAuthorization('to', undefined)], 'to'],
    ['a nonce that is too short', [withAuthorization('nonce', '0x12')], 'nonce'],
    ['validBefore as a date', [withAuthorization('validBefore', '2026-01-01')], 'validBefore'],
    [
      'a signature with an odd number of digits',
      [encodeChanged(({ payload }) => Object.assign(payload, { signature: '0x123' }))],
      'signature',
    ],
    [
      'an empty signature',
      [encodeChanged(({ payload }) => Object.assign(payload, { signature: '0x' }))],
      'signature',
    ],
  ];

  test.each(cases)('%s', (_name, lines, faultName) => {
    expect(refusalMessage({ 'payment-signature': lines })).toContain(faultName);
  });

  test('in X-PAYMENT, even if PAYMENT-SIGNATURE is good', () => {
    expect(refusalMessage({ 'payment-signature': [signed.header], 'x-payment': ['?'] })).toContain(
      'X-PAYMENT',
    );
  });
});
