/** A host whose name resolves to a blocked address is refused; a host with a published record gets a report instead. */
import { afterAll, expect, test } from 'vitest';
import { OriginRefused } from '../../../src/scanner/guard/failures.ts';
import type { Resolver } from '../../../src/scanner/guard/name-servers.ts';
import { DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { OFFLINE_STANDING } from '../../../src/scanner/model/standing.ts';
import { createScanner } from '../../../src/scanner/scan/run-scan.ts';
import { loadEngine } from './engine-under-test.ts';

const ORIGIN = parseOrigin('shop.example.com');

/** A public address beside a loopback address, as at the start of DNS rebinding. */
const REBINDING_RESOLVER: Resolver = {
  resolve4: async () => ['93.184.215.14', '127.0.0.1'],
  resolve6: async () => [],
  lookup: async () => [],
};

const { scan, admit, close } = createScanner({
  ...(await loadEngine({ threads: 1 })),
  policy: DEFAULT_POLICY,
  standing: OFFLINE_STANDING,
  userAgent: 'test',
  resolver: REBINDING_RESOLVER,
});
afterAll(close);

test('a host without a record is refused, and the answer shows no address', async () => {
  for (const call of [scan(ORIGIN), admit(ORIGIN)]) {
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OriginRefused);
    expect(String(error)).not.toContain('127.0.0.1');
  }
});

test('a host with a published record gets a report with score 0, and the scan dials nothing', async () => {
  const scannedAt = '2026-09-01T12:00:00.000Z';
  const { report, timing, observations } = await scan(ORIGIN, { hasRecord: true, scannedAt });
  expect(report).toMatchObject({ score: 0, grade: 'F', scannedAt });
  expect(report.results).toHaveLength(25);
  expect(report.results.find(({ id }) => id === 'P1')).toMatchObject({
    status: 'fail',
    basis: 'measured',
    outcome: 'blocked-address',
  });
  const dependentResults = report.results.filter(
    ({ category, id }) => category !== 'directory' && id !== 'P1',
  );
  expect(new Set(dependentResults.map(({ basis }) => basis))).toEqual(new Set(['not_evaluated']));
  expect(timing.requests).toBe(0);
  expect(JSON.stringify([report, observations])).not.toContain('127.0.0.1');
});
