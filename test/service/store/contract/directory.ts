/** Both stores: the directory. */

import { describe, expect, test } from 'vitest';
import type { Grade } from '../../../../src/scanner/model/report.ts';
import type { DirectoryQuery } from '../../../../src/service/store/context.ts';
import { VERIFIED_FOR_MS } from '../../../../src/service/store/owners.ts';
import type { PublishedScan } from '../../../../src/service/store/published-scan.ts';
import type { Store } from '../../../../src/service/store/store.ts';
import { issuedToken, publishedScan } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { freshWithClock } from './test-clock.ts';

const SCANS: readonly (readonly [string, Grade, number, string])[] = [
  ['api.alpha.com', 'A', 95, 'data'],
  ['beta.io', 'B', 88, 'search'],
  ['xn--bcher-kva.example', 'A', 99, 'media'],
  ['shop.alpha.com', 'F', 12, 'data'],
  ['a-b.c.dev', 'C', 70, 'other'],
  ['gamma.io', 'A', 95, 'data'],
];
const BY_RECENCY = SCANS.map(([host]) => host).toReversed();
const SUBSTRINGS: readonly (readonly [string, readonly string[]])[] = [
  [
    'a',
    [
      'gamma.io',
      'a-b.c.dev',
      'shop.alpha.com',
      'xn--bcher-kva.example',
      'beta.io',
      'api.alpha.com',
    ],
  ],
  ['io', ['gamma.io', 'beta.io']],
  ['.io', ['gamma.io', 'beta.io']],
  ['ALPHA', ['shop.alpha.com', 'api.alpha.com']],
  ['api.alpha.com', ['api.alpha.com']],
  ['alpha.co', ['shop.alpha.com', 'api.alpha.com']],
  ['-', ['a-b.c.dev', 'xn--bcher-kva.example']],
  ['--', ['xn--bcher-kva.example']],
  ['n--', ['xn--bcher-kva.example']],
  ['alphacom', []],
  ['.*', []],
  ['a.ph', []],
  ['a_b', []],
  ['%', []],
  ['^api', []],
  ['"', []],
  ['a" OR "b', []],
  ['*io', []],
  ['bücher', []],
  ['\u0000', []],
  ['$ne', []],
  ['zz', []],
];

export function directoryLists(subject: ContractSubject): void {
  describe('directory', () => {
    test('counts listed hosts by grade', async () => {
      const store = await filled(subject);
      expect(await store.directory.countByGrade()).toEqual({ A: 3, B: 1, C: 1, D: 0, F: 1 });
      await store.listing.set('gamma.io', { listed: false });
      expect(await store.directory.countByGrade()).toEqual({ A: 2, B: 1, C: 1, D: 0, F: 1 });
    });

    test('lists newest first, or best first', async () => {
      const store = await filled(subject);
      expect(await hosts(store, {})).toEqual(BY_RECENCY);
      expect(await hosts(store, { sort: 'grade' })).toEqual([
        'xn--bcher-kva.example',
        'gamma.io',
        'api.alpha.com',
        'beta.io',
        'a-b.c.dev',
        'shop.alpha.com',
      ]);
    });

    test('pages from 0, and counts the matches, not the page', async () => {
      const store = await filled(subject);
      const page = (number: number) => ({ ...QUERY, page: number, pageSize: 4 });
      const first = await store.directory.list(page(0));
      const second = await store.directory.list(page(1));
      expect([first.count, second.count]).toEqual([6, 6]);
      expect([...first.records, ...second.records].map((record) => record.host)).toEqual(
        BY_RECENCY,
      );
      expect(await store.directory.list(page(2))).toEqual({ count: 6, records: [] });
      expect(await store.directory.list(page(999_999_999_999))).toEqual({ count: 6, records: [] });
    });

    test('finds literal substrings of any characters', async () => {
      const store = await filled(subject);
      for (const [q, expected] of SUBSTRINGS) {
        expect(await hosts(store, { q }), JSON.stringify(q)).toEqual(expected);
      }
    });

    test('treats a host as owner-verified for a year from its confirm', async () => {
      const { clock, store } = await freshWithClock(subject);
      await store.publish(publishedScan({ host: 'beta.io' }));
      await store.ownership.recordConfirm('beta.io', issuedToken('h'));
      clock.advance(VERIFIED_FOR_MS - 1);
      expect(await store.directory.get('beta.io')).toMatchObject({ verified: true });
      const proofs = async () => store.directory.list({ ...QUERY, verified: true });
      expect((await proofs()).count).toBe(1);
      expect(await hosts(store, { verified: true })).toEqual(['beta.io']);
      clock.advance(1);
      expect((await proofs()).count).toBe(0);
      expect(await store.directory.get('beta.io')).toMatchObject({ verified: false });
      expect(await hosts(store, { verified: true })).toEqual([]);
      await store.purge(clock.now());
      expect(await store.ownership.findLastConfirm('beta.io')).toBeNull();
      await store.ownership.recordConfirm('beta.io', issuedToken('h2'));
      expect((await store.directory.get('beta.io'))?.verified).toBe(true);
    });

    test('filters by category and by owner, and combines filters', async () => {
      const store = await filled(subject);
      await store.ownership.recordConfirm('gamma.io', issuedToken('h'));
      await store.ownership.recordConfirm('beta.io', issuedToken('h'));
      await store.ownership.recordConfirm('never-scanned.io', issuedToken('h'));
      expect(await hosts(store, { category: 'data' })).toEqual([
        'gamma.io',
        'shop.alpha.com',
        'api.alpha.com',
      ]);
      expect(await hosts(store, { category: 'storage' })).toEqual([]);
      expect(await hosts(store, { verified: true })).toEqual(['gamma.io', 'beta.io']);
      expect(await hosts(store, { verified: false })).toEqual(BY_RECENCY);
      expect(await hosts(store, { verified: true, category: 'data', q: 'a' })).toEqual([
        'gamma.io',
      ]);
      expect(await hosts(store, { sort: 'grade', category: 'data', q: 'a' })).toEqual([
        'gamma.io',
        'api.alpha.com',
        'shop.alpha.com',
      ]);
    });

    test('leaves opted-out hosts out of lists and counts, until they return', async () => {
      const store = await filled(subject);
      await store.listing.set('gamma.io', { listed: false });
      await store.publish(publishedScan({ host: 'gamma.io', scannedAtMs: 99_999, grade: 'A' }));
      const without = BY_RECENCY.filter((host) => host !== 'gamma.io');
      expect(await hosts(store, {})).toEqual(without);
      expect(await hosts(store, { q: 'gamma' })).toEqual([]);
      expect(await hosts(store, { category: 'data', sort: 'grade' })).not.toContain('gamma.io');
      expect((await store.directory.list({ ...QUERY, pageSize: 1 })).count).toBe(5);
      expect((await store.directory.list({ ...QUERY, grade: 'A' })).count).toBe(2);
      expect((await store.directory.get('gamma.io'))?.listed).toBe(false);

      await store.listing.set('gamma.io', { listed: true });
      expect(await hosts(store, { q: 'gamma' })).toEqual(['gamma.io']);
    });

    test('lists hosts whose current scan has a grade and is recent enough', async () => {
      const store = await filled(subject);
      const best = { ...QUERY, grade: 'A' } as const;
      const recent = await store.directory.list({ ...best, sinceMs: 1_002 });
      expect(recent.records.map((record) => record.host)).toEqual([
        'gamma.io',
        'xn--bcher-kva.example',
      ]);
      expect(recent.count).toBe(2);
      expect((await store.directory.list({ ...best, sinceMs: 1_003 })).count).toBe(1);
      const one = await store.directory.list({ ...best, pageSize: 1 });
      expect([one.count, one.records.length]).toEqual([3, 1]);
      await store.publish(publishedScan({ host: 'gamma.io', scannedAtMs: 2_000, grade: 'B' }));
      expect((await store.directory.list({ ...QUERY, grade: 'A' })).count).toBe(2);
    });
  });

  describe('listing settings', () => {
    test('start open, change one by one, and stay after a restart', async () => {
      const store = await subject.fresh();
      const host = 'api.example.com';
      expect((await store.listing.get(host)).settings).toEqual({
        listed: true,
        enrichmentSuppressed: false,
      });
      expect(await store.listing.set(host, { enrichmentSuppressed: true })).toEqual({
        listed: true,
        enrichmentSuppressed: true,
      });
      await store.listing.set(host, { listed: false });
      const again = await subject.restart(store);
      expect(await again.listing.set(host, {})).toEqual({
        listed: false,
        enrichmentSuppressed: true,
      });
      expect((await again.listing.get('other.example.com')).settings).toEqual({
        listed: true,
        enrichmentSuppressed: false,
      });
    });

    test('write nothing on a version that another request, or a proof, has replaced', async () => {
      const { listing, ownership } = await subject.fresh();
      const host = 'api.example.com';
      expect((await listing.get(host)).version).toBe(0);
      const hidden = { listed: false, enrichmentSuppressed: false };
      expect(await listing.setIf(host, 0, { listed: false })).toEqual(hidden);
      expect(await listing.setIf(host, 0, { listed: true })).toBeNull();
      const { version } = await listing.get(host);
      await listing.set('other.example.com', { listed: false });
      expect((await listing.get(host)).version).toBe(version);
      await ownership.recordConfirm(host, issuedToken('h'));
      expect(await listing.setIf(host, version, { listed: true })).toBeNull();
      expect((await listing.get(host)).settings).toEqual(hidden);
      // All writers read the same version. A writer that read a later version could also win.
      const seen = (await listing.get(host)).version;
      const racers = Array.from({ length: 6 }, (_, n) =>
        listing.setIf(host, seen, { enrichmentSuppressed: n % 2 === 0 }),
      );
      expect((await Promise.all(racers)).filter((settings) => settings !== null)).toHaveLength(1);
    });

    test('have versions that change with publications and preferences, on every instance', async () => {
      const store = await subject.fresh();
      const versions = () => store.directory.readVersions();
      const empty = await versions();
      expect(await versions()).toEqual(empty);
      await store.publish(publishedScan({ host: 'a.com' }));
      const published = await versions();
      expect(published.published).not.toBe(empty.published);
      expect(published.preferences).toBe(empty.preferences);
      await store.listing.set('a.com', { listed: false });
      const hidden = await versions();
      expect(hidden.published).toBe(published.published);
      expect(hidden.preferences).not.toBe(published.preferences);
      const again = await subject.restart(store);
      expect(await again.directory.readVersions()).toEqual(hidden);
      await again.listing.set('a.com', { listed: true });
      expect((await again.directory.readVersions()).preferences).not.toBe(hidden.preferences);
    });
  });
}

const QUERY: DirectoryQuery = { sort: 'recent', page: 0, pageSize: 50 };

async function hosts(store: Store, query: Partial<DirectoryQuery>): Promise<readonly string[]> {
  const { count, records } = await store.directory.list({ ...QUERY, ...query });
  expect(count).toBe(records.length);
  return records.map((record) => record.host);
}

async function filled(subject: ContractSubject): Promise<Store> {
  const store = await subject.fresh();
  for (const [index, [host, grade, score, category]] of SCANS.entries()) {
    const { branding, ...scan }: PublishedScan = publishedScan({ host, grade, score });
    await store.publish({
      ...scan,
      scannedAtMs: 1_000 + index,
      branding: { ...branding, category },
    });
  }
  return store;
}
