import { expect, test } from 'vitest';
import type { JsonValue } from '../../../../src/scanner/parse/json/json.ts';
import { readChallenge } from '../../../../src/scanner/parse/x402/challenge.ts';
import {
  findMisplacement,
  hasTraceOfX402,
} from '../../../../src/scanner/parse/x402/misplaced-challenge.ts';
import {
  answer,
  challenge402,
  challengeV2,
  encodeChallenge,
  type Headers,
  offer,
} from '../../../fixtures/observations/build-observations.ts';

const BASE64 = encodeChallenge(challengeV2());

function misplacementOf(status: number, headers: Headers, body: JsonValue = '') {
  const { data } = answer(status, body, headers);
  return findMisplacement(data, readChallenge(data));
}

test('names no misplacement for a readable challenge on 402', () => {
  const { data } = challenge402();
  expect(findMisplacement(data, readChallenge(data))).toBeNull();
});

test.each([
  [401, { 'www-authenticate': 'Payment' }, 'authenticate'],
  [401, {}, undefined],
  [403, { 'www-authenticate': 'Payment' }, undefined],
] as const)('names the cause of a challenge with %i and %j', (status, headers, cause) => {
  const found = misplacementOf(status, { ...headers, 'payment-required': BASE64 });
  expect(found).toMatchObject({ kind: 'other-status' });
  expect(found?.cause).toBe(cause);
});

test('names HTTPException as the cause of a challenge under detail', () => {
  const found = misplacementOf(402, {}, { detail: challengeV2() });
  expect(found).toMatchObject({ kind: 'nested', cause: 'detail' });
});

test.each([
  ['a token', { authorization: `Bearer ${BASE64.slice(0, 30)}` }],
  ['base64 of another object', { 'x-data': encodeChallenge({ amount: '1', currency: 'usd' }) }],
  [
    'a JSON Web Token',
    { 'set-cookie': `t=${encodeChallenge({ alg: 'HS256', typ: 'JWT' })}.e30.c` },
  ],
])('finds no challenge in a header with %s', (_, headers) => {
  expect(misplacementOf(402, headers)).toMatchObject({ kind: 'no-terms' });
  expect(misplacementOf(200, headers)).toBeNull();
});

test('cleans pointers and header values of the origin', () => {
  const found = misplacementOf(402, {}, { 'a\u202Eb\n': { list: [offer()] } });
  expect(found?.text).toContain('at /ab /list of the body');
  const raw = misplacementOf(402, { 'payment-required': '\u202Epay' });
  expect(raw?.text).not.toContain('\u202E');
});

test('ends its search in wide and deep documents', () => {
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`m${at}`, { x: {} }]));
  expect(misplacementOf(402, {}, wide)).toMatchObject({ kind: 'no-terms' });
  const texts = Array.from({ length: 1_000 }, () => BASE64.replace('e', 'f'));
  expect(misplacementOf(402, {}, { texts })).toMatchObject({ kind: 'no-terms' });
  const deep = Array.from({ length: 12 }).reduce<JsonValue>((inner) => ({ a: inner }), [offer()]);
  expect(misplacementOf(402, {}, deep)).toMatchObject({ kind: 'own-terms' });
});

test.each([
  [{}, { error: 'Payment required' }, false],
  [{ 'crawler-price': 'USD 0.01' }, '', false],
  [{}, { error: 'X-PAYMENT header is required' }, true],
  [{ 'payment-required': 'x' }, '', true],
  [{}, { x402: [offer()] }, true],
] as const)('finds a trace of x402 in %j with %j: %s', (headers, body, isTraced) => {
  const { data } = answer(402, body, headers);
  expect(hasTraceOfX402(data, readChallenge(data))).toBe(isTraced);
});
