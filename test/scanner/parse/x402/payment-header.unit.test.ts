import { decodePaymentRequiredHeader, encodePaymentRequiredHeader } from '@x402/core/http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPaymentHeader } from '../../../../src/scanner/parse/x402/payment-header.ts';
import { expectLinear, repeat } from '../../../fixtures/cpu-cost.ts';
import {
  answer,
  challengeV2,
  encodeChallenge,
} from '../../../fixtures/observations/build-observations.ts';

function readValues(...values: readonly string[]) {
  return readPaymentHeader(answer(402, '', { 'payment-required': values }).data);
}

function encodeBase64(content: string | Uint8Array): string {
  return Buffer.from(content).toString('base64');
}

describe('readPaymentHeader', () => {
  test('decodes what the official server package encodes', () => {
    const challenge = {
      x402Version: 2,
      resource: {
        url: 'https://seller.example/x',
        description: 'Wetter für 漢字 😀',
        mimeType: 'x',
      },
      accepts: [],
    };
    const raw = encodePaymentRequiredHeader(challenge);
    expect(readValues(raw)).toEqual({ state: 'ok', raw, value: challenge, isUnpadded: false });
  });

  test.each([
    ['raw-json', JSON.stringify(challengeV2())],
    ['raw-json', '[1]'],
    ['not-base64', 'no base64 at all'],
    ['not-base64', `${encodeBase64('{"a":1}').replace(/=+$/, '')}=`],
    ['not-base64', encodeBase64('{"a":12}').slice(0, -3)],
    ['not-base64', `${encodeBase64('{}')}====`],
    ['not-base64', 'e30=, e30='],
    ['base64url', Buffer.from('{"a":"~~~???"}').toString('base64url')],
    ['base64url', '____'],
    ['not-utf8', encodeBase64(Uint8Array.from([0x7b, 0xff, 0x7d]))],
    ['not-json', encodeBase64('{"a":')],
    ['not-json', ''],
    ['not-json', encodeBase64('\uFEFF{}')],
    ['not-an-object', encodeBase64('[]')],
    ['not-an-object', encodeBase64('"text"')],
    ['not-an-object', encodeBase64('null')],
  ])('reports %s for %j', (state, raw) => {
    const reading = readValues(raw);
    expect(reading).toMatchObject({ state, raw: raw.trim() });
    expect('detail' in reading && reading.detail).toMatch(/\w/);
  });

  test('distinguishes an absent header, a repeated header, and blanks around the value', () => {
    const raw = encodeChallenge(challengeV2());
    expect(readValues()).toEqual({ state: 'absent' });
    expect(readValues(raw, raw)).toMatchObject({ state: 'repeated', raw: `${raw}, ${raw}` });
    expect(readValues(` ${raw} `).state).toBe('ok');
  });

  test('limits the nesting of its JSON', () => {
    expect(readValues(encodeBase64('{"a":'.repeat(70)))).toMatchObject({
      state: 'not-json',
      detail: 'deeper than 64',
    });
  });

  test('decodes nothing that the official client cannot decode', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 40 }), fc.json(), (noise, json) => {
        for (const raw of [noise, encodeBase64(noise), encodeBase64(json)]) {
          const reading = readValues(raw);
          if (reading.state !== 'ok') continue;
          expect(decodePaymentRequiredHeader(raw)).toEqual(reading.value);
        }
      }),
    );
  });

  test.each([
    ['letters', repeat('A')],
    ['letters, then a character that is not base64', (n: number) => `${repeat('A')(n)}!`],
    ['padding', repeat('=')],
    ['blanks', (n: number) => `A${repeat(' ')(n)}A`],
  ])('takes time in proportion to its length: %s', (_value, createValue) => {
    expectLinear(createValue, 1024 * 1024, readValues);
  });
});
