/** Paid calls are counted by client address, unless a proxy hides the address. */
import type { FastifyRequest } from 'fastify';
import { describe, expect, test } from 'vitest';
import { startApp } from '../../../../fixtures/service/start-app.ts';

/** A request with the two members that `findPayingClient` reads. */
const requestFrom = (ip: string, headers: Record<string, string> = {}) =>
  ({ ip, headers }) as unknown as FastifyRequest;

test('a client is an address, or the /48 of one IPv6 customer', async () => {
  await using service = await startApp();
  const findBlock = (ip: string) => service.app.findPayingClient(requestFrom(ip))?.block;
  expect(findBlock('8.8.8.8')).toBe(findBlock('8.8.8.200'));
  expect(findBlock('8.8.8.8')).not.toBe(findBlock('8.8.9.8'));
  const findClient = (ip: string) => service.app.findPayingClient(requestFrom(ip))?.key;
  expect(findClient('198.51.100.7')).not.toBe(findClient('198.51.100.8'));
  expect(findClient('2001:db8:1:2::1')).toBe(findClient('2001:db8:1:ffff::9'));
  expect(findClient('2001:db8:1::1')).not.toBe(findClient('2001:db8:2::1'));
});

describe('while TRUST_PROXY is empty, a forwarding header', () => {
  const HEADERS = [
    { forwarded: 'for=203.0.113.7' },
    { 'x-forwarded-for': '203.0.113.7' },
    { 'x-real-ip': '203.0.113.7' },
    { 'cf-connecting-ip': '203.0.113.7' },
    { via: '1.1 proxy' },
  ];

  test.each([
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.9',
    '169.254.1.1',
    'fd00::1',
    'fe80::1',
  ])('from the loopback or private peer %s makes its clients unknown', async (peer) => {
    await using service = await startApp();
    for (const headers of HEADERS) {
      expect(service.app.findPayingClient(requestFrom(peer, headers))).toBeNull();
    }
    expect(service.app.findPayingClient(requestFrom(peer))).not.toBeNull();
  });

  test.each(['198.51.100.7', '8.8.8.8', '172.32.0.1', '2606:4700::1', '::ffff:8.8.8.8'])(
    'from the public peer %s is ignored',
    async (peer) => {
      await using service = await startApp();
      const client = service.app.findPayingClient(requestFrom(peer));
      expect(client).not.toBeNull();
      for (const headers of HEADERS) {
        expect(service.app.findPayingClient(requestFrom(peer, headers))).toEqual(client);
      }
    },
  );
});
