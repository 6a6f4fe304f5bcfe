/** The first scan that meets a check which breaks on a good origin ends the sales of its process. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { discoverChecks } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { OFFLINE_STANDING } from '../../../src/scanner/model/standing.ts';
import { BrokenChecks } from '../../../src/scanner/scan/scanner.ts';
import { loadConfig } from '../../../src/service/config/config.ts';
import { openScans } from '../../../src/service/start/open-scans.ts';
import { createScanning } from '../../../src/service/start/scanning.ts';
import { startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { startApp } from '../../fixtures/service/start-app.ts';
import { readCatalog } from '../../fixtures/service/test-catalog.ts';
import { fixtureChecks, getFixture } from '../../scanner/engine/fixtures/fixture-checks.ts';
import { buyer, PRICES } from '../http/routes/paid/selling.ts';

const FATAL_LEVEL = 60;
const HOST = 'shop.example.com';

test('with a check that throws on every origin, a scan fails and names the check', async () => {
  await using seller = await startCraftedSeller({});
  const policy = { allowedPorts: [], allowHosts: new Set([new URL(seller.url).host]) };
  const { url } = getFixture(await fixtureChecks(), 'throws');
  const checks = await discoverChecks();
  const { scanner } = createScanning({
    policy,
    userAgent: 'a test',
    censusAgent: 'a test',
    catalog: readCatalog('2026-08-14.2'),
    checks: checks.map((check) => (check.id === 'P8' ? { ...check, url } : check)),
    standing: OFFLINE_STANDING,
    log: pino({ level: 'silent' }),
  });
  try {
    const scan = scanner.scan(parseOrigin(seller.url, policy));
    await expect(scan).rejects.toThrow(BrokenChecks);
    await expect(scan).rejects.toThrow(/^P8/);
  } finally {
    await scanner.close();
  }
});

test('the scan that meets broken checks is logged as fatal, and no later scan of the process begins', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'broken-'));
  await using disposables = new AsyncDisposableStack();
  disposables.defer(() => rm(folder, { recursive: true }));
  const lines: { level: number; msg: string }[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
  const { scanCoordinator } = await openScans(
    loadConfig({ STORE_URL: `sqlite:${join(folder, 'scanner.db')}` }),
    disposables,
    { log, signer: null, onPublished: () => {} },
  );
  const scanner = { scan: () => Promise.reject(new BrokenChecks(['P8'])) };
  expect(scanCoordinator.findFault()).toBeNull();
  const first = scanCoordinator.run(parseOrigin(HOST), { scanner });
  await expect(first).rejects.toThrow(BrokenChecks);
  expect(scanCoordinator.findFault()).toMatch(/^P8/);
  const neverCalled = { scan: () => Promise.reject(new Error('a scan began')) };
  const second = scanCoordinator.run(parseOrigin('other.example.com'), { scanner: neverCalled });
  await expect(second).rejects.toThrow(BrokenChecks);
  expect(lines.filter(({ level }) => level === FATAL_LEVEL)).toEqual([
    expect.objectContaining({ msg: expect.stringContaining('P8') }),
  ]);
});

test('the call that meets broken checks is not charged; from then on paid routes and /health answer 503, and free routes work', async () => {
  await using service = await startApp();
  service.scanner.will(HOST, { failure: new BrokenChecks(['P8']) });
  expect((await service.get('/health')).statusCode).toBe(200);
  const { header } = await buyer().sign({ value: PRICES['0.3.0'].scan, nowMs: service.now() });
  const paid = await service.post('/v1/scan', { url: HOST }, { 'payment-signature': header });
  expect(paid.statusCode).toBe(503);
  expect(paid.json()).toMatchObject({ error: 'scanner_failed', charged: false });
  for (const sending of [
    service.post('/v1/scan', { url: 'other.example.com' }),
    service.get('/v1/changes?since=2026-09-01T00:00:00Z'),
    service.get('/v1/directory/export'),
  ]) {
    const answer = await sending;
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ error: 'payments_unavailable', charged: false });
  }
  const health = await service.get('/health');
  expect(health.statusCode).toBe(503);
  expect(health.json()).toMatchObject({ error: 'scanner_failed', status: 'unavailable' });
  expect((await service.get('/v1/checks')).statusCode).toBe(200);
});
