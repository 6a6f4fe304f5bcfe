/** Whose word on the address of a client counts. */
import { expect, test } from 'vitest';
import { trustedProxies } from '../../src/http/trusted-proxies.ts';

test('addresses of the blocks are trusted, each time alike, and no others', () => {
  const isTrusted = trustedProxies(['127.0.0.0/8', '2001:db8::/32', '192.0.2.7']);
  for (let round = 0; round < 2; round += 1) {
    for (const address of ['127.0.0.1', '::ffff:127.9.9.9', '2001:db8::1', '192.0.2.7']) {
      expect(isTrusted(address), address).toBe(true);
    }
    for (const address of ['192.0.2.8', '2001:db9::1', '126.255.255.255', 'unknown', '']) {
      expect(isTrusted(address), address).toBe(false);
    }
  }
});

test('what is remembered ends, and no answer changes with it', () => {
  const isTrusted = trustedProxies(['10.0.0.0/8']);
  expect(isTrusted('10.0.0.1')).toBe(true);
  for (let n = 0; n < 2_500; n += 1) isTrusted(`11.0.${n >> 8}.${n & 255}`);
  expect(isTrusted('10.0.0.1')).toBe(true);
  expect(isTrusted('11.0.0.1')).toBe(false);
});
