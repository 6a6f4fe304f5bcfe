/** Who counts as one client of paid calls. */
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { startApp } from '../../../fixtures/service/start-app.ts';

/** The two members that decide. */
const from = (ip: string, headers: Record<string, string> = {}) =>
  ({ ip, headers }) as unknown as FastifyRequest;

test('an address, or the /48 that one customer of IPv6 holds', async () => {
  await using service = await startApp();
  const clientOf = (ip: string) => service.app.payingClient(from(ip));
  expect(clientOf('198.51.100.7')).not.toBe(clientOf('198.51.100.8'));
  expect(clientOf('2001:db8:1:2::1')).toBe(clientOf('2001:db8:1:ffff::9'));
  expect(clientOf('2001:db8:1::1')).not.toBe(clientOf('2001:db8:2::1'));
});

test('nobody behind a proxy that is not trusted, whoever the proxy says it is', async () => {
  await using service = await startApp();
  expect(service.app.payingClient(from('127.0.0.1', { 'x-real-ip': '203.0.113.7' }))).toBeNull();
});
