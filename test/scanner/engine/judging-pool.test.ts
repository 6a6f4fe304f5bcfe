import { mkdtemp, rm } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DiscoveredCheck } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool, type Pool } from '../../../src/scanner/engine/judging-pool.ts';
import type { Observations } from '../../../src/scanner/model/observations.ts';
import {
  EngineFault,
  PoolSaturated,
  TaskFault,
  TaskLimitExceeded,
} from '../../../src/scanner/workers/job.ts';
import { perfectSeller } from '../../fixtures/observations/build-observations.ts';
import {
  type FixtureChecks,
  fixtureChecks,
  getFixture,
  openPool,
} from './fixtures/fixture-checks.ts';

const TASKS = new URL('./fixtures/tasks.ts', import.meta.url).href;
const SELLER = perfectSeller();
/** The wall-clock limit is high, because the machine may be busy. */
const LIMITS = { cpuMs: 500, wallMs: 50_000 };

let checks: FixtureChecks;
let pool: Pool;
const taskErrors: Error[] = [];

beforeAll(async () => {
  checks = await fixtureChecks();
  pool = createPool({ ...LIMITS, threads: 2, onError: (error) => taskErrors.push(error) });
});
afterAll(() => pool.close());

/** Runs one check of the fixtures as if it were a scan of its own. */
function judge(title: string, observations?: Partial<Observations>, signal?: AbortSignal) {
  const check = getFixture(checks, title);
  const needed = check.definition.needs.map((name) => [name, SELLER[name]]);
  return pool.runCheck(check, observations ?? Object.fromEntries(needed), pool.openScan(), signal);
}

describe('a check that behaves', () => {
  test('gets the observations that it needs', async () => {
    await expect(judge('plain')).resolves.toEqual({
      status: 'pass',
      basis: 'measured',
      outcome: 'seen',
      evidence: `origin ${SELLER.origin.url}`,
      fix: 'Keep it.',
    });
  });

  test('gets frozen input and a frozen kit', async () => {
    await expect(judge('mutates')).resolves.toMatchObject({ outcome: 'frozen' });
  });

  test.each([
    ['ASCII', 'a'],
    ['letters of two bytes', 'é'],
    ['characters beyond the basic plane', '🜁'],
    ['a lone surrogate', '\udc00'],
  ])('reads a long body of %s as it was', async (_, letter) => {
    const body = letter.repeat(70_000);
    const root = SELLER.root;
    if (!root.ok) throw new Error('the seller of the cases has a root');
    const openapi = { ...root, data: { ...root.data, body } };
    const verdict = await judge('reads-body', { openapi });
    expect(verdict.evidence).toBe(`openapi ${body.length} ${body.codePointAt(1)}`);
  });

  test('gets its evidence cleaned and cut to 500 characters, and its fix cleaned', async () => {
    const { evidence, fix } = await judge('dirty-evidence');
    expect(evidence).toMatch(/^evil x{494}…$/);
    expect(fix).toBe('Keep it.');
  });
});

describe('a check that exceeds its limits', () => {
  test.each([
    ['endless-loop', 'CPU time'],
    ['endless-memory', 'memory'],
    ['endless-stack', 'stack depth'],
  ])('%s gets a finding that names the exceeded limit', async (title, resourceName) => {
    const verdict = await judge(title);
    expect(verdict).toMatchObject({ status: 'fail', basis: 'measured', outcome: 'limits' });
    expect(verdict.evidence).toContain(`twice too much ${resourceName} for origin (`);
  });

  test('is not ended while its CPU time is below the limit', async () => {
    await expect(judge('waits')).resolves.toMatchObject({ outcome: 'seen' });
  });
});

describe('a check that fails', () => {
  test.each([
    ['throws', 'a defect of ours'],
    ['floating-rejection', 'left behind'],
    ['foreign-outcome', 'unlisted'],
  ])('%s in both attempts loses only its own result, and is logged', async (title, why) => {
    const verdict = await judge(title);
    expect(verdict).toMatchObject({ status: 'fail', basis: 'not_evaluated', outcome: 'fault' });
    expect(verdict.evidence).toMatch(/the fault is ours: .* broke on origin \(\d+ bytes\)$/);
    expect(taskErrors.at(-1)).toBeInstanceOf(TaskFault);
    expect(taskErrors.at(-1)?.message).toContain(why);
    await expect(judge('plain')).resolves.toMatchObject({ outcome: 'seen' });
  });

  test('and needs answers of third parties is not determined', async () => {
    const broken = getFixture(checks, 'throws');
    const check = { ...broken, definition: { ...broken.definition, needs: ['origin', 'listing'] } };
    const { origin, listing } = SELLER;
    const verdict = await pool.runCheck(
      check as DiscoveredCheck, // needs one undeclared observation
      { origin, listing },
      pool.openScan(),
    );
    expect(verdict).toMatchObject({ status: 'warn', basis: 'not_determined', outcome: 'fault' });
  });

  test('because its module cannot be loaded is our fault', async () => {
    const check = {
      ...getFixture(checks, 'plain'),
      url: new URL('../none.ts', import.meta.url).href,
    };
    await expect(pool.runCheck(check, {}, pool.openScan())).rejects.toBeInstanceOf(EngineFault);
  });

  test('only in the first attempt gets its result from the second attempt', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fails-once-'));
    const url = pathToFileURL(join(folder, 'mark')).href;
    try {
      const verdict = await judge('fails-once', { origin: { ...SELLER.origin, url } });
      expect(verdict).toMatchObject({ outcome: 'seen', evidence: 'the second time' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('in a timer after its verdict harms neither the process nor the next check', async () => {
    const before = taskErrors.length;
    await expect(judge('late-timer')).resolves.toMatchObject({ outcome: 'seen' });
    await expect.poll(() => taskErrors.length, { timeout: 30_000 }).toBeGreaterThan(before);
    await expect(judge('plain')).resolves.toMatchObject({ outcome: 'seen' });
  });
});

describe('a task of any module', () => {
  test('gets plain data and gives plain data', async () => {
    const input = { words: ['b', 'a'], nothing: undefined };
    await expect(pool.run({ module: TASKS, exportName: 'sorted', input })).resolves.toEqual([
      'a',
      'b',
    ]);
  });

  test('rejects if its input is not plain data', async () => {
    const input = new Map();
    await expect(pool.run({ module: TASKS, exportName: 'sorted', input })).rejects.toThrow(
      'Only plain data',
    );
  });

  test('that exceeds its limits rejects with a named error', async () => {
    const endless = pool.run({ module: TASKS, exportName: 'endless', input: null });
    await expect(endless).rejects.toBeInstanceOf(TaskLimitExceeded);
    await expect(endless).rejects.toMatchObject({ limit: 'time' });
  });

  test.each(['asynchronous', 'absent', 'unspeakable'])(
    'with the export "%s", which cannot be run, is our fault',
    async (exportName) => {
      await expect(pool.run({ module: TASKS, exportName, input: null })).rejects.toBeInstanceOf(
        TaskFault,
      );
    },
  );

  test('sees no setting of the process', async () => {
    const settings = await pool.run({ module: TASKS, exportName: 'settings', input: null });
    // If the process keeps compiled code, its threads get this setting.
    const expectedSettings = getCompileCacheDir() === undefined ? [] : ['NODE_COMPILE_CACHE'];
    expect(settings).toEqual(expectedSettings);
  });
});

describe('a caller that gives up', () => {
  test('before the start gets its own reason', async () => {
    const reason = new Error('no longer wanted');
    await expect(judge('plain', undefined, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test('while it runs frees the thread at once', async () => {
    const caller = new AbortController();
    const running = judge('endless-loop', undefined, caller.signal);
    const refused = expect(running).rejects.toThrow('scan over');
    await expect.poll(() => pool.readLoad().running).toBe(1);
    caller.abort(new Error('scan over'));
    await refused;
    expect(pool.readLoad()).toMatchObject({ running: 0, waiting: 0 });
    await expect(judge('plain')).resolves.toMatchObject({ outcome: 'seen' });
  });

  test('while it waits leaves the queue, and the tasks behind it move up', async () => {
    await using smallPool = openPool({ ...LIMITS, threads: 1 });
    const plain = getFixture(checks, 'plain');
    const observations = { origin: SELLER.origin };
    const scan = smallPool.openScan();
    const firstRun = smallPool.runCheck(getFixture(checks, 'waits'), observations, scan);
    const caller = new AbortController();
    const abortedRun = smallPool.runCheck(plain, observations, scan, caller.signal);
    const lastRun = smallPool.runCheck(plain, observations, scan);
    expect(smallPool.readLoad()).toMatchObject({ threads: 1, running: 1, waiting: 2 });
    caller.abort(new Error('left the queue'));
    await expect(abortedRun).rejects.toThrow('left the queue');
    expect(smallPool.readLoad()).toMatchObject({ running: 1, waiting: 1 });
    await expect(Promise.all([firstRun, lastRun])).resolves.toHaveLength(2);
    expect(smallPool.readLoad()).toMatchObject({ threads: 1, running: 0, waiting: 0 });
  });
});

describe('a pool', () => {
  test('refuses more tasks than may wait', async () => {
    await using smallPool = openPool({ ...LIMITS, threads: 1, maxWaiting: 1 });
    const plain = getFixture(checks, 'plain');
    const observations = { origin: SELLER.origin };
    const scan = smallPool.openScan();
    const checkRuns = [1, 2, 3].map(() => smallPool.runCheck(plain, observations, scan));
    const outcomes = await Promise.allSettled(checkRuns);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    await expect(checkRuns[2]).rejects.toBeInstanceOf(PoolSaturated);
  });

  test('that is closed ends running and waiting tasks, and takes no more', async () => {
    const smallPool = createPool({ ...LIMITS, threads: 1 });
    const observations = { origin: SELLER.origin };
    const scan = smallPool.openScan();
    const running = smallPool.runCheck(getFixture(checks, 'endless-loop'), observations, scan);
    const waiting = smallPool.runCheck(getFixture(checks, 'plain'), observations, scan);
    const ended = Promise.allSettled([running, waiting]);
    await smallPool.close();
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(running).rejects.toThrow('was closed');
    await expect(
      smallPool.runCheck(getFixture(checks, 'plain'), observations, scan),
    ).rejects.toThrow('was closed');
  });
});

describe('the threads of a pool', () => {
  const plain = () => getFixture(checks, 'plain');
  const observations = { origin: SELLER.origin };

  test('start with the first task, and end after a while without tasks', async () => {
    await using shortIdlePool = openPool({ ...LIMITS, threads: 2, idleMs: 1 });
    expect(shortIdlePool.readLoad().alive).toBe(0);
    for (const _ of ['first', 'after a rest']) {
      const verdict = await shortIdlePool.runCheck(plain(), observations, shortIdlePool.openScan());
      expect(verdict.outcome).toBe('seen');
      await expect.poll(() => shortIdlePool.readLoad().alive).toBe(0);
    }
  });

  test('stay while they work, however short their idle time is', async () => {
    await using shortIdlePool = openPool({ ...LIMITS, threads: 1, idleMs: 1 });
    const working = shortIdlePool.runCheck(
      getFixture(checks, 'waits'),
      observations,
      shortIdlePool.openScan(),
    );
    await expect(working).resolves.toMatchObject({ status: 'pass' });
  });

  test('end soon after a later try, because they keep large documents', async () => {
    const twoTryPool = createPool({ ...LIMITS, threads: 1, firstTryMs: 20, cpuMs: 50_000 });
    try {
      const used = twoTryPool.run({ module: TASKS, exportName: 'busy', input: 2_000 });
      await expect(used).resolves.toBe(2_000);
      // The thread for first tries, which measured the machine, and the thread for later tries.
      expect(twoTryPool.readLoad().alive).toBe(2);
      await expect.poll(() => twoTryPool.readLoad().alive).toBe(1);
    } finally {
      await twoTryPool.close();
    }
  });

  test('boot before a task needs them', async () => {
    await using startedPool = openPool({ ...LIMITS, threads: 2 });
    const started = startedPool.start();
    expect(startedPool.readLoad()).toMatchObject({ alive: 2, running: 0 });
    await started;
  });
});
