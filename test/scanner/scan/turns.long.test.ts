/** A good origin gets its grade in time while other scans burn processor time. */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { BURNERS } from '../../fixtures/origins/burners.ts';
import { type CraftedSeller, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { slowdown } from '../../fixtures/slowdown.ts';
import { listCells, startEngine } from './engine-under-test.ts';

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

async function startSeller(answers = {}): Promise<CraftedSeller> {
  const started = await startCraftedSeller({ answers });
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

describe('an origin that burns processor time', () => {
  test.each(Object.keys(BURNERS))('gets 25 results within its budget: %s', async (name) => {
    const { url } = await startSeller(BURNERS[name]?.());
    const { report, timing } = await engine.scan(url);
    expect(report.results).toHaveLength(25);
    // No burner exhausts its budget, because the scanner bounds each costly step earlier.
    expect(report.exhausted).toBeUndefined();
    expect(timing.totalMs).toBeLessThan(70_000);
  });
});

test('beside eight burners, a good scan takes at most twice its usual time plus two seconds', async () => {
  const goodSeller = await startSeller();
  await engine.scan(goodSeller.url);
  const outcomeAlone = await engine.scan(goodSeller.url);
  const makers = Object.values(BURNERS);
  const burners = await Promise.all(
    Array.from({ length: 8 }, (_, at) => startSeller(makers[at % makers.length]?.())),
  );
  const burnerScans = burners.map(({ url }) => engine.scan(url));
  const slowdownBefore = slowdown();
  const outcomeBeside = await engine.scan(goodSeller.url);
  const slowdownFactor = Math.max(slowdownBefore, slowdown());
  expect(listCells(outcomeBeside)).toEqual(listCells(outcomeAlone));
  expect(outcomeBeside.report.score).toBe(outcomeAlone.report.score);
  // This process also serves the burners, on the thread that scans.
  expect(outcomeBeside.timing.totalMs).toBeLessThan(
    2 * outcomeAlone.timing.totalMs + 2_000 * 2 * slowdownFactor,
  );
  for (const { report } of await Promise.all(burnerScans)) expect(report.results).toHaveLength(25);
}, 240_000);
