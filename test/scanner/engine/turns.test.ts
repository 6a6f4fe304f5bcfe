/** Scans take turns, so that an endless scan does not delay the others. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPool, type Pool } from '../../../src/scanner/engine/judging-pool.ts';
import { slowdown } from '../../fixtures/slowdown.ts';
import {
  copies,
  type FixtureChecks,
  fixtureChecks,
  getFixture,
  judgeSeller,
} from './fixtures/fixture-checks.ts';

const HOSTILE_SCANS = 8;
/** The threads of the pool and the measured scan share these processor cores. */
const CORES = 2;

let fixtures: FixtureChecks;
let pool: Pool;
beforeAll(async () => {
  fixtures = await fixtureChecks();
  pool = createPool({ threads: 2, wallMs: 50_000 });
});
afterAll(() => pool.close());

async function scan(title: string, signal?: AbortSignal) {
  const startMs = performance.now();
  const { results } = await judgeSeller(pool, copies(getFixture(fixtures, title), 25), { signal });
  return { results, ms: performance.now() - startMs };
}

test('a good scan beside eight endless ones takes at most twice its usual time plus two seconds', async () => {
  await scan('plain');
  const aloneRun = await scan('plain');
  const endOfHostile = new AbortController();
  const hostile = Array.from({ length: HOSTILE_SCANS }, () =>
    scan('endless-loop', endOfHostile.signal),
  );
  const ended = Promise.allSettled(hostile);
  await expect.poll(() => pool.readLoad().waiting).toBeGreaterThan(100);

  // The first run meets the longest queue. Later runs meet scans that use processor time.
  for (let repetition = 0; repetition < 3; repetition += 1) {
    const slowdownBefore = slowdown();
    const besideRun = await scan('plain');
    expect(besideRun.results).toEqual(aloneRun.results);
    expect(besideRun.ms).toBeLessThan(
      2 * aloneRun.ms + 2_000 * CORES * Math.max(slowdownBefore, slowdown()),
    );
  }
  endOfHostile.abort(new Error('the measurement is over'));
  await ended;
  expect(pool.readLoad()).toMatchObject({ running: 0, waiting: 0 });
}, 240_000);
