import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { openSigningKey, toSigningKey, toThumbprint } from '../../src/attestation/signing-keys.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';

const { privateKey: CONFIGURED_KEY } = generateKeyPairSync('ed25519');

test('the thumbprint of the example key is the one in RFC 8037, appendix A.3', () => {
  expect(toThumbprint('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo')).toBe(
    'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  );
});

test('later instances on a store use the key that the first instance made', async () => {
  await using parts = openParts();
  const { keys } = parts;
  const opened = await Promise.all(Array.from({ length: 20 }, () => openSigningKey(keys, null)));
  expect(new Set(opened.map(({ kid }) => kid)).size).toBe(1);
  const [stored, ...others] = await keys.list();
  expect(others).toEqual([]);
  expect(toSigningKey(createPrivateKey(stored?.privateKey ?? '')).kid).toBe(opened[0]?.kid);
});

test('a configured key is used but never stored, and without it the next instance makes a new key', async () => {
  await using parts = openParts();
  const { keys } = parts;
  const made = await openSigningKey(keys, null);
  const given = await openSigningKey(keys, CONFIGURED_KEY);
  expect(await openSigningKey(keys, CONFIGURED_KEY)).toEqual(given);
  const again = await openSigningKey(keys, null);
  expect(new Set([made.kid, given.kid, again.kid]).size).toBe(3);
  expect(
    (await keys.list()).map(({ n, kid, privateKey }) => [n, kid, privateKey !== null]),
  ).toEqual([
    [1, made.kid, true],
    [2, given.kid, false],
    [3, again.kid, true],
  ]);
});

function openParts() {
  const store = openSqlite(MEMORY);
  return { keys: store.signingKeys, [Symbol.asyncDispose]: () => store.close() };
}
