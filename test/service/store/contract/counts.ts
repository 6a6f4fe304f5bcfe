/** Both stores: after random operations, counts and pages equal a count by hand. */
import { describe, expect, test } from 'vitest';
import type { Grade } from '../../../../src/scanner/model/report.ts';
import type { DirectoryQuery } from '../../../../src/service/store/context.ts';
import type { DirectoryRecord } from '../../../../src/service/store/directory.ts';
import { VERIFIED_FOR_MS } from '../../../../src/service/store/owners.ts';
import type { Store } from '../../../../src/service/store/store.ts';
import { isPayableWeek } from './census.ts';
import { listOrigin, writeCensusWords } from './census-words.ts';
import { issuedToken, publishedScan } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { DAY_MS, freshWithClock, type TestClock } from './test-clock.ts';

const GRADES: readonly Grade[] = ['A', 'B', 'C', 'D', 'F'];
const CATEGORIES = ['data', 'media', 'other'];
const HOSTS = Array.from({ length: 30 }, (_, n) => `shop-${n}.${n % 3 ? 'example.com' : 'dev.io'}`);
const PAGE_SIZE = 3;

const FILTERS: readonly Partial<DirectoryQuery>[] = [
  {},
  { category: 'media' },
  { verified: true },
  { verified: true, category: 'data' },
  { q: '1' },
  { q: '-2' },
  { q: 'io' },
  { q: 'p-1' },
  { q: 'example.com', category: 'data' },
  { q: 'shop-1', verified: true },
  { q: '-2', verified: true, category: 'other' },
  { grade: 'A' },
  { grade: 'C', category: 'data' },
  { grade: 'B', verified: true },
  { grade: 'D', q: 'dev.i' },
  { q: 'shop-12.dev.io' },
  { payable: 'today' },
  { payable: 'today', category: 'media' },
  { payable: 'today', grade: 'B' },
  { payable: 'today', q: '1' },
  { payable: 'week' },
  { payable: 'week', category: 'data' },
  { payable: 'week', grade: 'A' },
  { payable: 'week', verified: true },
  { payable: 'week', q: 'io' },
];

export function countsAreExact(subject: ContractSubject): void {
  describe('counts', () => {
    test(`equal a count by hand after ${subject.operations} operations`, {
      timeout: 600_000,
    }, async () => {
      let { clock, store } = await freshWithClock(subject);
      const random = mulberry32(20_260_814);
      const unused = new Set(FILTERS.map((filter) => JSON.stringify(filter)));
      for (let done = 1; done <= subject.operations; done += 1) {
        await operate(store, clock, random);
        if (done % Math.ceil(subject.operations / 8) !== 0) continue;
        if (done % 2 === 0) store = await subject.restart(store, { clock: clock.now });
        await expectExact(store, clock, done, unused);
      }
      await expectExact(store, clock, 0, unused);
      // Fewer operations may leave a filter without a host.
      if (subject.operations >= 1_000) expect([...unused]).toEqual([]);
    });

    test('are exact after operations on the same hosts at once', { timeout: 600_000 }, async () => {
      const { clock, store } = await freshWithClock(subject);
      const random = mulberry32(7);
      for (let round = 0; round < 3; round += 1) {
        // Stored counts must also be right while their hosts change.
        const reads = FILTERS.map((filter) => store.directory.list({ ...BASE, ...filter }));
        await Promise.all(Array.from({ length: 20 }, () => operate(store, clock, random)));
        await Promise.all(reads);
        await expectExact(store, clock, round);
      }
    });
  });
}

const SORTS = ['recent', 'grade', 'new'] as const;
const BASE: DirectoryQuery = { sort: 'recent', page: 0, pageSize: PAGE_SIZE };

async function operate(store: Store, clock: TestClock, random: () => number): Promise<void> {
  const host = pick(HOSTS, random);
  const what = random();
  if (what < 0.5) {
    const scan = publishedScan({
      host,
      // Some scans are published late, some at the same time.
      scannedAtMs: clock.now() - Math.floor(random() * 5),
      grade: pick(GRADES, random),
      score: Math.floor(random() * 4) * 25,
      paidBy: random() < 0.3 ? 'census' : 'payer',
    });
    const branding = { ...scan.branding, category: pick(CATEGORIES, random) };
    await store.publish({ ...scan, branding });
  } else if (what < 0.62) await store.listing.set(host, { listed: random() < 0.8 });
  else if (what < 0.65) {
    await store.listing.set(host, { enrichmentSuppressed: random() < 0.5 });
  } else if (what < 0.76) {
    await store.ownership.recordConfirm(host, issuedToken(`t${Math.floor(random() * 1e9)}`));
  } else if (what < 0.9) {
    await listOrigin(store, host);
    await writeCensusWords(store, host, pick(['ppp', 'pppp', 'p', 'pdp', 'd'], random));
  } else if (what < 0.92) await store.exclusions.set(host, random() < 0.5);
  else if (what < 0.93) await store.census.remove(host);
  else if (what < 0.96) clock.advance(DAY_MS);
  else if (what < 0.98) clock.advance(VERIFIED_FOR_MS / 3);
  else await store.purge(clock.now());
  clock.advance(Math.floor(random() * 3));
}

/** @param unused this function removes the filters that select hosts */
async function expectExact(
  store: Store,
  clock: TestClock,
  round: number,
  unused = new Set<string>(),
): Promise<void> {
  const found = await Promise.all(HOSTS.map((host) => store.directory.get(host)));
  const listed = found.filter((record) => record?.listed === true).filter((r) => r !== null);
  const grades = GRADES.map((grade) => [grade, listed.filter((r) => r.grade === grade).length]);
  expect(await store.directory.countByGrade()).toEqual(Object.fromEntries(grades));
  const sinceMs = clock.now() - 30 * DAY_MS;
  const best = listed.filter((r) => r.grade === 'A' && r.scannedAtMs >= sinceMs);
  expect((await store.directory.list({ ...BASE, grade: 'A', sinceMs })).count).toBe(best.length);
  for (const [index, filter] of FILTERS.entries()) {
    // Three rounds check each filter in each order.
    const sort = SORTS[(index + round) % SORTS.length] ?? 'recent';
    const query = { ...BASE, ...filter, sort };
    const expected = listed.filter((record) => matches(record, query)).toSorted(ORDERS[sort]);
    if (expected.length > 0) unused.delete(JSON.stringify(filter));
    // A list shows the same record as a lookup of the host.
    expect(await allOf(store, query, expected.length), JSON.stringify(query)).toEqual(expected);
  }
}

/** Reads every page, and the empty page after the last. */
async function allOf(store: Store, query: DirectoryQuery, count: number) {
  const records: DirectoryRecord[] = [];
  for (let page = Math.ceil(count / PAGE_SIZE); page >= 0; page -= 1) {
    const answer = await store.directory.list({ ...query, page });
    expect(answer.count, JSON.stringify(query)).toBe(count);
    records.unshift(...answer.records);
  }
  return records;
}

function matches(record: DirectoryRecord, query: DirectoryQuery): boolean {
  const { category, grade, verified, payable, q = '' } = query;
  const { availability } = record;
  if (category !== undefined && record.branding.category !== category) return false;
  if (grade !== undefined && record.grade !== grade) return false;
  if (payable === 'today' && availability?.today !== 'payable') return false;
  if (payable === 'week' && !isPayableWeek(availability?.days)) return false;
  return (verified !== true || record.verified) && record.host.includes(q);
}

type Compare = (a: DirectoryRecord, b: DirectoryRecord) => number;

const NEWEST: Compare = (a, b) => b.scannedAtMs - a.scannedAtMs || (a.host < b.host ? -1 : 1);
const ORDERS: Readonly<Record<DirectoryQuery['sort'], Compare>> = {
  recent: NEWEST,
  grade: (a, b) =>
    GRADES.indexOf(a.grade) - GRADES.indexOf(b.grade) || b.score - a.score || NEWEST(a, b),
  new: (a, b) => b.firstSeenAtMs - a.firstSeenAtMs || (a.host < b.host ? -1 : 1),
};

function pick<T>(values: readonly T[], random: () => number): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

/** Makes random numbers from 0 to 1, the same for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
