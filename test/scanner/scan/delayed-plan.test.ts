/** Time that a scan waits for our threads does not count against the seller. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ScannerFailure } from '../../../src/scanner/scan/scanner.ts';
import { startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { loadEngine, scanLoopback } from './engine-under-test.ts';

const TASKS_MODULE = new URL('../engine/fixtures/tasks.ts', import.meta.url).href;
const LONG_MS = 60_000;

/** Scans a valid seller while somebody else's task holds our only thread for some time. */
async function scanBehind(heldMs: number, gatherDeadlineMs: number) {
  const limits = { threads: 1, firstTryMs: LONG_MS, cpuMs: LONG_MS, wallMs: LONG_MS };
  const engine = await loadEngine(limits);
  const seller = await startCraftedSeller();
  onTestFinished(async () => {
    await Promise.all([engine.pool.close(), seller[Symbol.asyncDispose]()]);
  });
  const letGo = new AbortController();
  const input = { words: [] };
  const plan = engine.pool
    .run({ module: TASKS_MODULE, exportName: 'endless', input, signal: letGo.signal })
    .catch(() => undefined);
  const pendingScan = scanLoopback(seller.url, { ...engine, gatherDeadlineMs });
  pendingScan.catch(() => undefined);
  await pause(heldMs);
  letGo.abort();
  await plan;
  return { pendingScan, seller };
}

test('a plan that waited past the deadline of requests leaves the seller the whole time', async () => {
  const { pendingScan, seller } = await scanBehind(7_000, 6_000);
  const { report } = await pendingScan;
  expect(report.grade).toBe('A');
  expect(report.exhausted).toBeUndefined();
  expect(seller.requests.map(({ path }) => path)).toContain('/weather');
}, 120_000);

test('a plan that waited longer than a deadline can move ends the scan as our fault', async () => {
  const { pendingScan, seller } = await scanBehind(9_000, 1_000);
  await expect(pendingScan).rejects.toBeInstanceOf(ScannerFailure);
  await expect(pendingScan).rejects.toThrow('overloaded');
  expect(seller.requests.map(({ path }) => path)).not.toContain('/weather');
}, 120_000);
