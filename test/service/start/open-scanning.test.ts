/** The first scan opens the worker threads. A closed scanner never opens them. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { discoverChecks } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { parseOrigin, DEFAULT_POLICY as policy } from '../../../src/scanner/guard/origin.ts';
import { ScannerFailure } from '../../../src/scanner/scan/scanner.ts';
import { openScanning } from '../../../src/service/start/open-scanning.ts';
import { readCatalog } from '../../fixtures/service/test-catalog.ts';

test('a scanner that is closed before its first scan refuses scans and free requests', async () => {
  const scanning = openScanning({
    policy,
    userAgent: 'a test',
    censusAgent: 'a test',
    catalog: readCatalog('2026-08-14.2'),
    checks: await discoverChecks(),
    standing: {
      origin: () => Promise.reject(new Error('no index is asked')),
      settlements: () => Promise.reject(new Error('no index is asked')),
    },
    log: pino({ level: 'silent' }),
  });
  expect(scanning.scanner.isSaturated()).toBe(false);
  await scanning.scanner.close();
  const origin = parseOrigin('api.shop.dev');
  await expect(scanning.scanner.scan(origin)).rejects.toThrow(ScannerFailure);
  await expect(scanning.openClient('call', {})).rejects.toThrow('The service stops.');
});
