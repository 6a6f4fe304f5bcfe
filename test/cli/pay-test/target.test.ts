import { expect, test } from 'vitest';
import { isOwnAddress, resolveTarget } from '../../../src/cli/pay-test/seller-client.ts';

test.each([
  '127.0.0.1',
  '127.9.9.9',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '::1',
  'fd00::1',
  'fc00::1',
  '::ffff:127.0.0.1',
])("%s is the user's own machine", (address) => expect(isOwnAddress(address)).toBe(true));

test.each([
  '8.8.8.8',
  '172.32.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  'fe80::1',
  '2606:4700::1',
  '::ffff:8.8.8.8',
  'fd00::1%eth0',
  'localhost',
])("%s is not the user's own machine", (address) => expect(isOwnAddress(address)).toBe(false));

const resolveTo =
  (...addresses: readonly string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: 4 as const }));

test("every address to which a name resolves must be one of the user's own machines", async () => {
  await expect(resolveTarget('http://shop.test', resolveTo('10.0.0.1', '8.8.8.8'))).rejects.toThrow(
    '8.8.8.8',
  );
  await expect(resolveTarget('http://shop.test', resolveTo())).rejects.toThrow('does not resolve');
  const target = await resolveTarget('shop.test:3000/x?y', resolveTo('10.0.0.1', '10.0.0.2'));
  expect(target).toMatchObject({ origin: 'http://shop.test:3000', port: 3000 });
  expect(target.addresses).toHaveLength(2);
});

test.each(['ftp://127.0.0.1', 'http://user@127.0.0.1', ''])(
  '%j is not an address of a seller',
  async (text) => {
    await expect(resolveTarget(text)).rejects.toThrow('give the address of your seller');
  },
);
