import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DiscoveredCheck } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool, type Pool } from '../../../src/scanner/engine/judging-pool.ts';
import { type CheckRun, runChecks } from '../../../src/scanner/engine/run-checks.ts';
import { EngineFault } from '../../../src/scanner/workers/job.ts';
import { perfectSeller } from '../../fixtures/observations/build-observations.ts';
import {
  copies,
  entriesOf,
  type FixtureChecks,
  fixtureChecks,
  getFixture,
  judgeSeller,
  openPool,
} from './fixtures/fixture-checks.ts';

const observations = perfectSeller();
/** The wall-clock limit is high, because the machine may be busy. */
const LIMITS = { threads: 2, cpuMs: 500, wallMs: 50_000 };
const faults: Error[] = [];

let fixtures: FixtureChecks;
let pool: Pool;

beforeAll(async () => {
  fixtures = await fixtureChecks();
  pool = createPool({ ...LIMITS, onError: (error) => faults.push(error) });
});
afterAll(() => pool.close());

async function judge(checks: readonly DiscoveredCheck[], run?: Partial<CheckRun>) {
  return (await judgeSeller(pool, checks, run)).results;
}

function pick(...titles: readonly string[]): readonly DiscoveredCheck[] {
  return titles.map((title) => getFixture(fixtures, title));
}

describe('a scan with checks that never end', () => {
  test('has 25 results, and each such check fails only itself', async () => {
    const plain = copies(getFixture(fixtures, 'plain'), 22);
    const hostile = pick('endless-loop', 'endless-memory', 'endless-stack');
    const results = await judge([...plain.slice(0, 11), ...hostile, ...plain.slice(11)]);

    expect(results).toHaveLength(25);
    const limited = results.filter(({ outcome }) => outcome === 'limits');
    expect(limited.map(({ title }) => title)).toEqual([
      'endless-loop',
      'endless-memory',
      'endless-stack',
    ]);
    expect(limited.every(({ status, basis }) => status === 'fail' && basis === 'measured')).toBe(
      true,
    );
    const unlimited = results.filter(({ outcome }) => outcome !== 'limits');
    expect(unlimited.map(({ status, outcome }) => `${status} ${outcome}`)).toEqual(
      Array.from({ length: 22 }, () => 'pass seen'),
    );
  });

  test('runs at once with nineteen other scans, and each scan gets all its results in catalog order', async () => {
    const plain = copies(getFixture(fixtures, 'plain'), 25);
    const hostile = [...plain.slice(0, 24), ...pick('endless-stack')];
    const scans = Array.from({ length: 20 }, (_, at) => (at % 5 === 0 ? hostile : plain));
    const resultsOfScans = await Promise.all(scans.map((checks) => judge(checks)));
    for (const [at, results] of resultsOfScans.entries()) {
      expect(results.map(({ id }) => id)).toEqual(scans[at]?.map(({ id }) => id));
      expect(results.slice(0, 24).every(({ outcome }) => outcome === 'seen')).toBe(true);
      expect(results[24]?.outcome).toBe(at % 5 === 0 ? 'limits' : 'seen');
    }
    expect(pool.readLoad()).toMatchObject({ running: 0, waiting: 0 });
  });
});

describe('a scan with a broken check', () => {
  test('loses this check and the checks that require it, and no others', async () => {
    const broken = { ...getFixture(fixtures, 'throws'), id: 'X13', impl: 'X13@1' };
    const results = await judge([broken, ...pick('needs-broken', 'plain')]);
    expect(results).toMatchObject([
      { id: 'X13', status: 'fail', basis: 'not_evaluated', outcome: 'fault' },
      { id: 'X14', status: 'fail', basis: 'not_evaluated', outcome: 'prerequisite-failed' },
      { id: 'X1', status: 'pass', outcome: 'seen' },
    ]);
    expect(results[1]?.evidence).toContain('see X13: throws failed: Not evaluated, and the fault');
    expect(faults.at(-1)?.message).toMatch(/^X13@1 threw twice: .*a defect of ours/s);
  });

  test('whose module cannot be loaded is our fault, and no task is left running', async () => {
    const nowhere = new URL('./none.ts', import.meta.url).href;
    const broken = { ...getFixture(fixtures, 'plain'), id: 'X13', impl: 'X13@1', url: nowhere };
    const judged = judge([...pick('endless-loop'), broken, ...pick('plain')]);
    await expect(judged).rejects.toBeInstanceOf(EngineFault);
    await expect(judged).rejects.toThrow(/X13@1 failed twice/);
    expect(pool.readLoad()).toMatchObject({ running: 0, waiting: 0 });
  });

  test('that is in the catalog but not among the loaded checks rejects', async () => {
    const [plain] = pick('plain');
    const catalog = { checksVersion: '2026-01-01.1', checks: entriesOf(plain ? [plain] : []) };
    const judged = runChecks({ catalog, checks: [], observations, pool, account: pool.openScan() });
    await expect(judged).rejects.toThrow('X1@1 of 2026-01-01.1 is not loaded');
  });
});

test('an aborted run rejects with the reason, and leaves no task running', async () => {
  const caller = new AbortController();
  const judged = judge(pick('endless-loop', 'plain', 'endless-memory'), { signal: caller.signal });
  const refused = expect(judged).rejects.toThrow('shutting down');
  await expect.poll(() => pool.readLoad().running).toBeGreaterThan(0);
  caller.abort(new Error('shutting down'));
  await refused;
  expect(pool.readLoad()).toMatchObject({ running: 0, waiting: 0 });
});

describe('a scan that spends its processor time', () => {
  /** Returns the plain check as a check on the answer of a third party. */
  function createStandingCheck(): DiscoveredCheck {
    const plain = getFixture(fixtures, 'plain');
    const definition = { ...plain.definition, needs: ['origin', 'listing'] as const };
    return { ...plain, id: 'D1', impl: 'D1@1', definition };
  }

  test.each(['first', 'last'])(
    'has no check of the origin judged, even if the endless check is the %s',
    async (at) => {
      await using limitedPool = openPool({ ...LIMITS, originMs: 300 });
      const [endless, plain] = pick('endless-loop', 'plain');
      if (!endless || !plain) throw new Error('the fixtures are not there');
      const others = [...copies(plain, 5), createStandingCheck(), ...pick('fails', 'needs-broken')];
      const checks = at === 'first' ? [endless, ...others] : [...others, endless];
      const { account, results } = await judgeSeller(limitedPool, checks);

      expect(account.findExhausted()).toEqual(['origin']);
      for (const { id, status, basis, outcome, evidence } of results) {
        if (id === 'D1') expect({ status, outcome }).toEqual({ status: 'pass', outcome: 'seen' });
        else {
          expect({ status, basis, outcome }).toEqual({
            status: 'fail',
            basis: 'measured',
            outcome: 'limits',
          });
          expect(evidence).toContain('all the processor time that a scan has');
        }
      }
    },
  );

  test('on answers of third parties still has its other checks judged', async () => {
    const endless = getFixture(fixtures, 'endless-loop');
    const definition = { ...endless.definition, needs: ['origin', 'listing'] as const };
    const checks = [{ ...endless, definition }, createStandingCheck(), ...pick('plain')];
    await using limitedPool = openPool({ ...LIMITS, standingMs: 300 });
    const { account, results } = await judgeSeller(limitedPool, checks);
    expect(account.findExhausted()).toEqual(['standing']);
    expect(results).toMatchObject([
      { status: 'warn', basis: 'not_determined', outcome: 'limits' },
      { status: 'warn', basis: 'not_determined', outcome: 'limits' },
      { status: 'pass', outcome: 'seen' },
    ]);
  });

  test('or reaches its deadline still has all results', async () => {
    const deadline = new AbortController();
    const judging = judge(pick('endless-loop', 'plain', 'fails'), {
      account: pool.openScan('replay'),
      deadline: deadline.signal,
    });
    await expect.poll(() => pool.readLoad().running).toBeGreaterThan(0);
    deadline.abort(new Error('the scan is over'));
    const results = await judging;
    expect(results.map(({ status, outcome }) => `${status} ${outcome}`)).toEqual([
      'fail limits',
      'fail limits',
      'fail limits',
    ]);
    expect(pool.readLoad()).toMatchObject({ running: 0, waiting: 0 });
  });
});

describe('a check whose prerequisite failed', () => {
  test('is not evaluated, and names the root cause and its evidence', async () => {
    const results = await judge(pick('needs-dependent', 'needs-broken', 'plain', 'fails'));
    const dependent = {
      status: 'fail',
      basis: 'not_evaluated',
      outcome: 'prerequisite-failed',
      evidence: 'Not evaluated, see X13: fails failed: GET /: 500',
    };
    expect(results).toMatchObject([
      { id: 'X15', ...dependent },
      { id: 'X14', ...dependent },
      { id: 'X1', status: 'pass' },
      { id: 'X13', outcome: 'broken', basis: 'measured' },
    ]);
    expect(results[0]?.fix).toContain('X13');
  });

  test('is judged if the prerequisite holds', async () => {
    const results = await judge([
      ...pick('needs-dependent', 'needs-broken', 'plain'),
      { ...getFixture(fixtures, 'plain'), id: 'X13', impl: 'X13@1' },
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['seen', 'seen', 'seen', 'seen']);
  });

  test('is not evaluated if the prerequisite exceeded its limits', async () => {
    const endless = { ...getFixture(fixtures, 'endless-stack'), id: 'X13', impl: 'X13@1' };
    const results = await judge([...pick('needs-broken', 'plain'), endless]);
    expect(results[0]).toMatchObject({ id: 'X14', basis: 'not_evaluated' });
    expect(results[0]?.evidence).toMatch(/^Not evaluated, see X13: .*within limits/);
  });

  test('names the failed prerequisite that it lists first', async () => {
    const broken = { ...getFixture(fixtures, 'fails'), id: 'X1', impl: 'X1@1' };
    const results = await judge([...pick('fails', 'needs-broken'), broken]);
    expect(results[1]?.evidence).toMatch(/^Not evaluated, see X1:/);
  });
});

test('a result has every member that a report shows', async () => {
  const [result] = await judge(pick('plain'));
  expect(result).toEqual({
    id: 'X1',
    title: 'plain',
    category: 'docs',
    severity: 'minor',
    status: 'pass',
    basis: 'measured',
    outcome: 'seen',
    evidence: `origin ${observations.origin.url}`,
    fix: 'Keep it.',
  });
});
