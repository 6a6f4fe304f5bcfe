/** The service closes all parts that it opened, also after a failure. */
import { expect, test } from 'vitest';
import { parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { loadConfig } from '../../../src/service/config/config.ts';
import { Saturated } from '../../../src/service/errors/errors.ts';
import { openService } from '../../../src/service/start/service.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { createFakeScanner } from '../../scanner/scan/fake-scanner.ts';
import { PRICES, startSelling } from '../http/routes/paid/selling.ts';

const HOST = 'shop.example.com';
const GRACE_MS = 50;
const UNREADABLE = new Error('This table cannot be read.');
const fail = () => Promise.reject(UNREADABLE);

/** A store and a scanner that tell when they are closed. */
function openListenedParts(change: (store: Store) => Partial<Store>) {
  const closed: string[] = [];
  const memory = openSqlite(MEMORY);
  const store: Store = {
    ...memory,
    ...change(memory),
    async close() {
      closed.push('store');
      await memory.close();
    },
  };
  const scanner = {
    ...createFakeScanner(),
    async close() {
      closed.push('scanner');
    },
  };
  return { closed, parts: { store, scanning: { scanner }, hasNoTimers: true } };
}

test.each([
  {
    part: 'catalog',
    environment: { CHECKS_VERSION: '2020-01-01.1' },
    change: () => ({}),
    message: /^CHECKS_VERSION/,
    expected: ['store'],
  },
  {
    part: 'signing key',
    change: ({ signingKeys }: Store) => ({ signingKeys: { ...signingKeys, list: fail } }),
    message: UNREADABLE.message,
    expected: ['scanner', 'store'],
  },
  {
    part: 'app',
    change: () => ({}),
    limits: { requestTimeoutMs: -1 },
    message: /headersTimeout/,
    expected: ['scanner', 'store'],
  },
])(
  'if the $part cannot be opened, the parts opened before it are closed, the last one first',
  async ({ environment, change, limits, message, expected }) => {
    const { closed, parts } = openListenedParts(change);
    const config = loadConfig({ LOG_LEVEL: 'silent', ...environment });
    await expect(openService(config, { ...parts, limits })).rejects.toThrow(message);
    expect(closed).toEqual(expected);
  },
);

test('a service whose scan never ends answers its payer, charges nothing, and closes', async () => {
  await using selling = await startSelling();
  const { app } = selling;
  app.scanner.will(HOST, { until: new Promise(() => {}) });
  const answering = selling.scan(HOST, await selling.header(PRICES['0.3.0'].scan));
  await expect.poll(() => app.scanner.scannedHosts).toEqual([HOST]);
  await app.close(GRACE_MS);
  const answer = await answering;
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ charged: false });
  await expect(app.store.ping()).rejects.toThrow();
});

test('a service is closed once, even if it is told so twice', async () => {
  const { closed, parts } = openListenedParts(() => ({}));
  const service = await openService(loadConfig({ LOG_LEVEL: 'silent' }), parts);
  await Promise.all([service.close(), service.close()]);
  expect(closed).toEqual(['scanner', 'store']);
});

test('a service closes and answers its callers though its scanner ignores the abort of a scan', async () => {
  const { closed, parts } = openListenedParts(() => ({}));
  const scanner = { ...parts.scanning.scanner, scan: () => new Promise<never>(() => {}) };
  const config = loadConfig({ LOG_LEVEL: 'silent' });
  const service = await openService(config, { ...parts, scanning: { scanner } });
  const answering = service.scanCoordinator.run(parseOrigin(HOST));
  const failure = expect(answering).rejects.toThrow(Saturated);
  await service.close();
  await failure;
  expect(closed).toEqual(['scanner', 'store']);
});

test('a service whose store fails at the end closes its other parts', async () => {
  const { closed, parts } = openListenedParts(({ instances }) => ({
    instances: { ...instances, leave: fail },
  }));
  const service = await openService(loadConfig({ LOG_LEVEL: 'silent' }), parts);
  await expect(service.close()).rejects.toThrow(UNREADABLE.message);
  expect(closed).toEqual(['scanner', 'store']);
});
