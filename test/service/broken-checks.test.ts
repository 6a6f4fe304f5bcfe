/** Before its first scan, the scanner finds a check that throws on every origin. From then on it sells nothing. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import { parseOrigin } from '../../src/guard/origin.ts';
import { OFFLINE_STANDING } from '../../src/model/standing.ts';
import { ScannerFailure } from '../../src/scan/scanner.ts';
import { createScanning } from '../../src/service/scanning.ts';
import { fixtureChecks, getFixture } from '../engine/fixtures/fixture-checks.ts';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { startApp } from '../fixtures/service/start-app.ts';
import { readCatalog } from '../fixtures/service/test-catalog.ts';

const FATAL_LEVEL = 60;

test('with a check that throws on every origin, every scan fails, and one fatal log line names the check', async () => {
  await using seller = await startCraftedSeller({});
  const url = new URL(seller.url);
  const policy = { allowedPorts: [], allowHosts: new Set([url.host]) };
  const { url: throwingModule } = getFixture(await fixtureChecks(), 'throws');
  const checks = (await discoverChecks()).map((check) =>
    check.id === 'P8' ? { ...check, url: throwingModule } : check,
  );
  const logLines: { level: number; msg: string }[] = [];
  const log = pino({}, { write: (line: string) => logLines.push(JSON.parse(line)) });
  const { scanner } = createScanning({
    policy,
    userAgent: 'a test',
    catalog: readCatalog('2026-08-14.2'),
    checks,
    standing: OFFLINE_STANDING,
    log,
  });
  try {
    expect(scanner.fault?.()).toBeNull();
    const origin = parseOrigin(seller.url, policy);
    for (const _ of ['first', 'second']) {
      await expect(scanner.scan(origin)).rejects.toThrow(ScannerFailure);
    }
    expect(scanner.fault?.()).toMatch(/^P8/);
    expect(logLines.filter(({ level }) => level === FATAL_LEVEL)).toEqual([
      expect.objectContaining({ msg: expect.stringContaining('P8') }),
    ]);
  } finally {
    await scanner.close();
  }
});

test('with a broken check, paid routes and /health answer 503, and free routes still work', async () => {
  await using service = await startApp();
  expect((await service.get('/health')).statusCode).toBe(200);
  expect((await service.post('/v1/scan', { url: 'shop.example.com' })).statusCode).toBe(402);
  service.scanner.breaks('P8 breaks even on an origin without answers.');
  for (const sending of [
    service.post('/v1/scan', { url: 'shop.example.com' }),
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
