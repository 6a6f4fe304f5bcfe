/** A good origin gets its grade in time while other scans burn processor time. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BURNERS } from '../fixtures/origins/burners.ts';
import { type CraftedSeller, startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { slowdown } from '../fixtures/slowdown.ts';
import { cells, type EngineUnderTest, startEngine } from './engine-under-test.ts';

let engine: EngineUnderTest;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

async function seller(answers = {}): Promise<CraftedSeller> {
  const started = await startCraftedSeller({ answers });
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

describe('an origin that burns processor time', () => {
  test.each(Object.keys(BURNERS))('%s', async (name) => {
    const { url } = await seller(BURNERS[name]?.());
    const { report, timing } = await engine.scan(url);
    expect(report.results).toHaveLength(25);
    // No burner exhausts its budget, because the scanner bounds each costly step earlier.
    expect(report.exhausted).toBeUndefined();
    expect(timing.totalMs).toBeLessThan(70_000);
  });
});

test('beside eight burners, a good scan takes at most twice its usual time plus two seconds', async () => {
  const good = await seller();
  await engine.scan(good.url);
  const alone = await engine.scan(good.url);
  const makers = Object.values(BURNERS);
  const burners = await Promise.all(
    Array.from({ length: 8 }, (_, at) => seller(makers[at % makers.length]?.())),
  );
  const burning = burners.map(({ url }) => engine.scan(url));
  const before = slowdown();
  const beside = await engine.scan(good.url);
  const slower = Math.max(before, slowdown());
  expect(cells(beside)).toEqual(cells(alone));
  expect(beside.report.score).toBe(alone.report.score);
  // This process also serves the burners, on the thread that scans.
  expect(beside.timing.totalMs).toBeLessThan(2 * alone.timing.totalMs + 2_000 * 2 * slower);
  for (const { report } of await Promise.all(burning)) expect(report.results).toHaveLength(25);
}, 240_000);
