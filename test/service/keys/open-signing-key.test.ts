import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { toThumbprint } from '../../../src/scanner/attestation/key-set.ts';
import { openSigningKey } from '../../../src/service/keys/open-signing-key.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';

const { privateKey: CONFIGURED_KEY } = generateKeyPairSync('ed25519');

test('the thumbprint of the example key is the one in RFC 8037, appendix A.3', () => {
  expect(toThumbprint('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo')).toBe(
    'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  );
});

test('the private part of a configured key is not stored, and a later instance without it makes a new key', async () => {
  const store = openSqlite(MEMORY);
  await using _closing = { [Symbol.asyncDispose]: () => store.close() };
  const { signingKeys: keys } = store;
  const firstKey = await openSigningKey(keys, null);
  const configuredKey = await openSigningKey(keys, CONFIGURED_KEY);
  expect(await openSigningKey(keys, CONFIGURED_KEY)).toEqual(configuredKey);
  const nextKey = await openSigningKey(keys, null);
  expect(new Set([firstKey.kid, configuredKey.kid, nextKey.kid]).size).toBe(3);
  expect(
    (await keys.list()).map(({ n, kid, privateKey }) => [n, kid, privateKey !== null]),
  ).toEqual([
    [1, firstKey.kid, true],
    [2, configuredKey.kid, false],
    [3, nextKey.kid, true],
  ]);
});
