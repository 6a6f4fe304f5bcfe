/** The census scans each host once a week, publishes the scan, and lets paid scans go first. */
import { describe, expect, test } from 'vitest';
import { OriginRefused } from '../../../src/scanner/guard/failures.ts';
import type { Grade } from '../../../src/scanner/model/report.ts';
import { isScanDue } from '../../../src/service/census/plan.ts';
import { findFeedEvents } from '../../../src/service/directory/feeds.ts';
import { failure } from '../../fixtures/observations/build-observations.ts';
import {
  DAY_MS,
  NOON_HOST as HOST,
  hostsBetween,
  keyedHash,
  lookTimeMs,
  PAYABLE_SELLER,
  SILENT,
  START_MS,
  startCensus,
  unreachedSeller,
  WEATHER,
} from './census-rig.ts';

const PAYABLE_REPORT = {
  payability: [{ ...WEATHER, payableBy: 'default' as const, words: null, offers: [] }],
};
const UNREACHED_SELLER = unreachedSeller(failure('timeout'));

describe('a weekly scan', () => {
  test('comes within the first seven days, and then once in seven days', async () => {
    const rig = startCensus();
    const hosts = hostsBetween(1, 23, 20);
    for (const host of hosts) {
      await rig.list(host);
      await rig.store.census.change(host, { scannedDay: null });
    }
    await rig.passDays(7);
    expect(rig.scanner.scannedHosts.toSorted()).toEqual(hosts.toSorted());
    await rig.passDays(14);
    expect(rig.scanner.scannedHosts).toHaveLength(3 * hosts.length);
    // Each day has its share of the scans.
    const weekdays = new Set(hosts.map((host) => weekdayOf(host)));
    expect(weekdays.size).toBeGreaterThan(4);
  });

  test('that failed is repeated on the next day', async () => {
    const rig = startCensus();
    await rig.list(HOST, { isScanDue: true });
    rig.scanner.will(HOST, { failure: new Error('no worker') });
    await rig.passTo(HOST);
    expect(await rig.word(HOST)).toBe('not_checked');
    rig.scanner.will(HOST, { observations: PAYABLE_SELLER });
    await rig.passTo(HOST, rig.today() + 1);
    expect(rig.scanner.scannedHosts).toEqual([HOST, HOST]);
    expect(await rig.word(HOST)).toBe('payable');
  });

  test('of an origin without listed resources replaces the first look, and adds the resources that it finds', async () => {
    const rig = startCensus();
    await rig.list(HOST, { resources: [] });
    await rig.store.census.change(HOST, { scannedDay: null });
    const payability = [
      { method: 'GET', path: '/a', payableBy: 'default' as const, words: null, offers: [] },
      { method: 'PUT', path: '/b', payableBy: 'default' as const, words: null, offers: [] },
      { method: 'POST', path: '/c', payableBy: 'default' as const, words: null, offers: [] },
      { method: 'GET', path: '/d', payableBy: 'default' as const, words: null, offers: [] },
    ];
    rig.scanner.will(HOST, { observations: PAYABLE_SELLER, report: { payability } });
    await rig.passTo(HOST);
    expect(rig.scanner.scannedHosts).toEqual([HOST]);
    expect((await rig.store.census.get(HOST))?.listing).toMatchObject({
      resources: [
        { method: 'GET', path: '/a', sources: ['scan'] },
        { method: 'POST', path: '/c', sources: ['scan'] },
      ],
    });
  });
});

test('a scan of the census is published as paid by the census', async () => {
  const rig = startCensus();
  await rig.list(HOST, { isScanDue: true });
  await rig.passTo(HOST);
  expect(await rig.word(HOST)).toBe('payable');
  const record = await rig.store.directory.get(HOST);
  expect(record).toMatchObject({ host: HOST, grade: 'A', paidBy: 'census', scanCount: 1 });
  expect(record?.availability).toMatchObject({ today: 'payable', payableDays: 1, checkedDays: 1 });
  expect(await rig.store.results.findPublished(HOST)).toMatchObject({ paidBy: 'census' });
});

test('the changes list a new host and a changed grade, but not the other scans of the census', async () => {
  const rig = startCensus();
  await rig.list(HOST, { isScanDue: true });
  const grades: readonly Grade[] = ['A', 'A', 'B', 'B'];
  const changeTypes: string[][] = [];
  const firstDay = rig.today();
  for (const [week, grade] of grades.entries()) {
    rig.scanner.will(HOST, { observations: PAYABLE_SELLER, grade });
    await rig.store.census.change(HOST, { scannedDay: firstDay + 7 * week - 7 });
    await rig.passTo(HOST, firstDay + 7 * week);
    const { changes } = await rig.store.changes.list({ sinceMs: 0, limit: 10 });
    changeTypes.push(changes.map(({ changeType }) => changeType));
  }
  expect(rig.scanner.scannedHosts).toHaveLength(4);
  expect(changeTypes).toEqual([
    ['new'],
    ['new'],
    ['new', 'grade_changed'],
    ['new', 'grade_changed'],
  ]);
  expect((await rig.store.directory.get(HOST))?.scanCount).toBe(4);
});

test('a grade by other rules than before is a change of the rules, and later grades are compared with it', async () => {
  const rig = startCensus();
  await rig.list(HOST, { isScanDue: true });
  const firstDay = rig.today();
  const scans = [
    ['A', '2026-08-14.1'],
    ['B', '2026-08-14.2'],
    ['C', '2026-08-14.2'],
  ] as const;
  for (const [week, [grade, checksVersion]] of scans.entries()) {
    rig.scanner.will(HOST, { observations: PAYABLE_SELLER, grade, report: { checksVersion } });
    await rig.store.census.change(HOST, { scannedDay: firstDay + 7 * week - 7 });
    await rig.passTo(HOST, firstDay + 7 * week);
  }
  const { changes } = await rig.store.changes.list({ sinceMs: 0, limit: 10 });
  expect(changes).toMatchObject([
    { changeType: 'new', grade: 'A' },
    { changeType: 'rules_changed', grade: 'B', previousGrade: 'A' },
    { changeType: 'grade_changed', grade: 'C', previousGrade: 'B' },
  ]);
  const feedEvents = findFeedEvents(0, await rig.store.history.list(HOST));
  expect(feedEvents.map(({ kind }) => kind)).toEqual(['grade', 'rules', 'first-seen']);
});

test('a scan in which nobody could be judged is not published', async () => {
  const rig = startCensus();
  await rig.list(HOST, { isScanDue: true });
  const results = { P2: { status: 'warn', basis: 'measured', outcome: 'rate-limited' } } as const;
  rig.scanner.will(HOST, { observations: PAYABLE_SELLER, results });
  await rig.passTo(HOST);
  expect(await rig.store.directory.get(HOST)).toBeNull();
});

describe('what an index says', () => {
  test('gets no POST in a look, unless the last full scan read that the seller sells it', async () => {
    const rig = startCensus();
    let undeclared = 0;
    const count = () => {
      undeclared += 1;
    };
    rig.onPostUndeclared = count;
    await rig.list(HOST, { resources: [{ method: 'POST', path: '/admin/reset-everything' }] });
    await rig.passTo(HOST);
    expect(rig.asked).toEqual([]);
    expect(await rig.word(HOST)).toBe('not_checked');
    expect(undeclared).toBe(1);
    const sold = [{ method: 'POST', path: '/admin/{action}' } as const];
    rig.scanner.will(HOST, { observations: unreachedSeller(failure('timeout')), sold });
    const row = await rig.store.census.get(HOST);
    await rig.store.census.change(HOST, { listing: { ...row?.listing, sold } });
    await rig.passTo(HOST, rig.today() + 1);
    expect(rig.asked).toHaveLength(1);
    expect(await rig.word(HOST)).toBe('payable');
  });

  test('leaves a place to what a scan found to be sold, although no kept row lists it', async () => {
    const rig = startCensus();
    const strange = [1, 2].map((n) => ({ method: 'GET', path: `/gone-${n}` }) as const);
    await rig.list(HOST, { resources: strange, isScanDue: true });
    rig.answer = () => ({
      signs: (rig.asked.at(-1)?.question.resources ?? []).map((resource) => ({
        ...{ status: 404, reason: null, payableBy: null, resource },
      })),
    });
    // The scan reads a challenge of /weather. Only what the seller's documents sell is added.
    for (const [sold, paths] of [
      [[], ['/gone-1', '/gone-2']],
      [[WEATHER], ['/weather', '/gone-1']],
    ] as const) {
      rig.scanner.will(HOST, { observations: PAYABLE_SELLER, sold, report: PAYABLE_REPORT });
      await rig.store.census.change(HOST, { scannedDay: rig.today() - 7 });
      await rig.passTo(HOST, rig.today() + 1);
      await rig.passTo(HOST, rig.today() + 1);
      const asked = rig.asked.at(-1)?.question.resources ?? [];
      expect(asked.map(({ path }) => path)).toEqual(paths);
    }
  });

  test('takes no place of a resource that has answered a challenge; a gone one gives its place the day after', async () => {
    const rig = startCensus();
    const removed = [1, 2].map((n) => ({ method: 'GET', path: `/gone-${n}` }) as const);
    await rig.list(HOST, { resources: [WEATHER, removed[0] ?? WEATHER] });
    const row = await rig.store.census.get(HOST);
    const candidates = [{ ...(removed[1] ?? WEATHER), sources: ['bazaar'] }];
    await rig.store.census.change(HOST, { listing: { ...row?.listing, candidates } });
    rig.answer = () => ({
      signs: (rig.asked.at(-1)?.question.resources ?? []).map((resource) => {
        const isPaid = resource.path === WEATHER.path;
        return {
          status: isPaid ? 402 : 404,
          reason: null,
          payableBy: isPaid ? 'default' : null,
          resource,
        };
      }),
    });
    await rig.passTo(HOST);
    await rig.passTo(HOST, rig.today() + 1);
    // A day on which the challenged resource is gone does not cost it its place.
    rig.answer = () => ({
      signs: (rig.asked.at(-1)?.question.resources ?? []).map((resource) => ({
        ...{ status: 404, reason: null, payableBy: null, resource },
      })),
    });
    await rig.passTo(HOST, rig.today() + 1);
    await rig.passTo(HOST, rig.today() + 1);
    const paths = rig.asked.map(({ question }) => question.resources.map(({ path }) => path));
    expect(paths).toEqual([
      ['/weather', '/gone-1'],
      ['/weather', '/gone-2'],
      ['/weather', '/gone-1'],
      ['/weather', '/gone-2'],
    ]);
  });
});

describe('a due weekly scan', () => {
  test('waits until a paid scan has ended', async () => {
    const rig = startCensus();
    await rig.list(HOST, { isScanDue: true });
    const paidScanEnds = Promise.withResolvers<void>();
    rig.scanner.will('paid.com', { until: paidScanEnds.promise });
    const paidScan = rig.scan('paid.com', true);
    await expect.poll(() => rig.scanner.scannedHosts).toEqual(['paid.com']);
    await rig.passTo(HOST);
    expect(rig.scanner.scannedHosts).toEqual(['paid.com']);
    expect(rig.asked).toEqual([]);
    paidScanEnds.resolve();
    await paidScan;
    rig.clock.nowMs += 5_000;
    await rig.settle();
    expect(rig.scanner.scannedHosts).toEqual(['paid.com', HOST]);
    expect(await rig.word(HOST)).toBe('payable');
  });

  test('waits for a scan by another instance, and sends no request', async () => {
    const rig = startCensus();
    await rig.list(HOST, { isScanDue: true });
    rig.clock.nowMs = lookTimeMs(HOST, rig.today());
    const outcome = await rig.store.leases.takeSole(['scan', HOST], 90_000);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await rig.passTo(HOST);
      rig.clock.nowMs += 5_000;
    }
    expect(rig.asked).toEqual([]);
    if (outcome.taken) await rig.store.leases.release(outcome.lease);
    await rig.settle();
    expect(rig.scanner.scannedHosts).toEqual([HOST]);
  });

  test('is the only work that waits: a look runs during a paid scan', async () => {
    const rig = startCensus();
    await rig.list(HOST);
    const paidScanEnds = Promise.withResolvers<void>();
    rig.scanner.will('paid.com', { until: paidScanEnds.promise });
    const paidScan = rig.scan('paid.com', true);
    await expect.poll(() => rig.scanner.scannedHosts).toEqual(['paid.com']);
    await rig.passTo(HOST);
    expect(await rig.word(HOST)).toBe('payable');
    paidScanEnds.resolve();
    await paidScan;
  });
});

describe('a weekly scan and midnight', () => {
  test('no host has its second in the last two minutes of a day, because a scan takes as long', () => {
    const seconds = Array.from({ length: 20_000 }, (_, n) => lookTimeMs(`h${n}.com`, 0) / 1_000);
    expect(Math.max(...seconds)).toBeLessThan(86_400 - 120);
    expect(Math.max(...seconds)).toBeGreaterThan(86_400 - 180);
  });

  test.each([
    [120_000, 1],
    [119_999, 0],
  ])('a look that begins %d ms before midnight is a due scan: %d', async (beforeMs, scans) => {
    const rig = startCensus();
    await rig.list(HOST, { isScanDue: true });
    rig.clock.nowMs = START_MS + DAY_MS - beforeMs;
    await rig.settle();
    expect(rig.scanner.scannedHosts).toHaveLength(scans);
    expect(await rig.word(HOST)).toBe('payable');
    await rig.passTo(HOST, rig.today() + 1);
    expect(rig.scanner.scannedHosts).toHaveLength(1);
  });

  test('a scan that still runs at midnight sends no request after it, and is repeated on the next day', async () => {
    const rig = startCensus();
    const day = rig.today();
    await rig.list(HOST, { isScanDue: true });
    const isMidnight = Promise.withResolvers<void>();
    rig.scanner.will(HOST, { until: isMidnight.promise });
    rig.clock.nowMs = START_MS + DAY_MS - 120_000;
    await rig.census.rounds.tick();
    await expect.poll(() => rig.scanner.scannedHosts).toEqual([HOST]);
    rig.clock.nowMs = START_MS + DAY_MS;
    isMidnight.resolve();
    await rig.census.rounds.idle();
    expect(await rig.store.directory.get(HOST)).toBeNull();
    rig.scanner.will(HOST, { observations: PAYABLE_SELLER });
    rig.clock.nowMs += 5_000;
    await rig.settle();
    expect(await rig.word(HOST, day)).toBe('not_checked');
    await rig.passTo(HOST, day + 1);
    expect(rig.scanner.scannedHosts).toEqual([HOST, HOST]);
    expect(await rig.word(HOST, day + 1)).toBe('payable');
    expect(rig.troubles).toEqual([]);
  });
});

describe('robots.txt', () => {
  test('is read before each weekly scan, and prevents the scan if it allows no listed path', async () => {
    const rig = startCensus();
    await rig.list(HOST, { isScanDue: true });
    rig.robots = () => ({ allowed: { [WEATHER.path]: false } });
    await rig.passTo(HOST);
    expect(rig.asked.map(({ question }) => question)).toMatchObject([
      { resources: [], robotsPaths: [WEATHER.path] },
    ]);
    expect(rig.scanner.scannedHosts).toEqual([]);
    expect(await rig.word(HOST)).toBe('not_checked');
    // The rules of robots.txt also hold on the days without a scan.
    await rig.store.census.change(HOST, { scannedDay: rig.today() + 90 });
    await rig.passTo(HOST, rig.today() + 1);
    expect(rig.asked[1]?.question).toMatchObject({
      allowed: { [WEATHER.path]: false },
      robotsPaths: [],
    });
  });

  test.each([
    [30, true],
    [31, false],
  ])(
    'that does not answer leaves its rules of %d days ago in force: %s',
    async (days, areInForce) => {
      const rules = { [WEATHER.path]: true };
      const rig = startCensus();
      await rig.list(HOST, { isScanDue: true });
      await rig.store.census.change(HOST, { robots: rules, robotsDay: rig.today() - days });
      rig.robots = () => ({ allowed: null, isRobotsSilent: false });
      await rig.passTo(HOST);
      expect(rig.scanner.scannedHosts).toEqual(areInForce ? [HOST] : []);
      expect(await rig.word(HOST)).toBe(areInForce ? 'payable' : 'not_checked');
      // A look reads robots.txt again only if no rules are in force.
      await rig.store.census.change(HOST, {
        ...{ scannedDay: rig.today() + 90, robotsDay: rig.today() + 1 - days },
      });
      await rig.passTo(HOST, rig.today() + 1);
      expect(rig.asked.at(-1)?.question).toMatchObject(
        areInForce
          ? { allowed: rules, robotsPaths: [] }
          : { allowed: null, robotsPaths: [WEATHER.path] },
      );
    },
  );
});

test('a host that resolves to a blocked address is down once later looks show that our network works', async () => {
  const rig = startCensus();
  await rig.list(HOST, { isScanDue: true });
  rig.scanner.will(HOST, { failure: new OriginRefused('blocked_ip') });
  rig.answer = () => ({ signs: [SILENT] });
  await rig.passTo(HOST);
  expect(await rig.word(HOST)).toBeNull();
  await rig.passUntil(rig.clock.nowMs + DAY_MS / 8);
  expect(await rig.word(HOST)).toBe('down');
});

test('a scan during an outage of our own network is repeated on the next day', async () => {
  const rig = startCensus();
  const hosts = hostsBetween(11, 13, 16).toSorted((a, b) => lookTimeMs(a, 0) - lookTimeMs(b, 0));
  const firstDay = rig.today();
  // A counted scan on the first day would not be due again for a week. The outage shows after this first look.
  const [host = ''] = hosts;
  for (const name of hosts) await rig.list(name, { isScanDue: name === host });
  rig.answer = () => (rig.today() === firstDay ? { signs: [SILENT] } : {});
  rig.isNetworkUp = async () => rig.today() !== firstDay;
  rig.scanner.will(host, { observations: UNREACHED_SELLER });
  await rig.passUntil(rig.clock.nowMs + DAY_MS);
  expect(await rig.word(host, firstDay)).toBe('not_checked');
  expect(await rig.store.directory.get(host)).toBeNull();
  rig.scanner.will(host, { observations: PAYABLE_SELLER });
  await rig.passUntil(rig.clock.nowMs + DAY_MS);
  expect(rig.scanner.scannedHosts).toEqual([host, host]);
  expect(await rig.store.directory.get(host)).not.toBeNull();
});

test('a scan that finds an origin down counts as its scan of the week', async () => {
  const rig = startCensus();
  await rig.list(HOST, { isScanDue: true });
  rig.scanner.will(HOST, { observations: UNREACHED_SELLER });
  await rig.passUntil(rig.clock.nowMs + DAY_MS);
  expect(await rig.word(HOST, rig.today() - 1)).toBe('down');
  expect((await rig.store.census.get(HOST))?.scannedDay).toBe(rig.today() - 1);
});

function weekdayOf(host: string): number {
  const listing = { resources: [WEATHER] };
  const row = { host, firstDay: 0, scannedDay: null, listing };
  return Array.from({ length: 7 }, (_, day) => day).findIndex((day) =>
    isScanDue(keyedHash, row, day),
  );
}
