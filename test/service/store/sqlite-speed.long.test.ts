/** The embedded store stays fast with many rows. */

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DirectoryQuery } from '../../../src/service/store/context.ts';
import {
  toCountStatement,
  toOrderedStatement,
  toSortedStatement,
} from '../../../src/service/store/sqlite/record-lists.ts';
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { folderPerFile } from '../../fixtures/temp-folder.ts';
import { issuedToken, ledgerStep, publishedScan } from './contract/samples.ts';
import { HOUR_MS, TestClock } from './contract/test-clock.ts';

const HOST_COUNT = 2_000;
const BASE_QUERY: DirectoryQuery = { sort: 'recent', page: 0, pageSize: 50 };

const folder = folderPerFile();
let store: Store;
let reader: DatabaseSync;

beforeAll(async () => {
  const path = folder.at('scanner.db');
  store = openSqlite(path);
  for (let n = 0; n < HOST_COUNT; n += 1) {
    const scan = publishedScan({ host: `shop-${n}.example.com`, scannedAtMs: n, score: n % 100 });
    const category = n % 10 === 0 ? 'media' : 'data';
    await store.publish({ ...scan, branding: { ...scan.branding, category } });
  }
  reader = new DatabaseSync(path, { readOnly: true });
});

afterAll(async () => {
  reader?.close();
  await store?.close();
});

describe('directory queries over 2,000 hosts', () => {
  const queries: readonly Partial<DirectoryQuery>[] = [
    {},
    { sort: 'grade' },
    { category: 'media' },
    { category: 'media', sort: 'grade' },
    { grade: 'A' },
    { grade: 'A', category: 'media', sort: 'new' },
    { verified: true },
    { verified: true, grade: 'A', payable: 'today' },
    { payable: 'today' },
    { payable: 'today', category: 'media' },
    { payable: 'week' },
    { payable: 'week', grade: 'A' },
    { q: 's' },
    { q: 'shop-1' },
    { q: 'shop-1', category: 'media', grade: 'A' },
  ];

  test.each(queries)('with %j count and list the hosts from an index, without a sort', (query) => {
    const fullQuery = { ...BASE_QUERY, ...query, q: query.q ?? '' };
    const counted = toCountStatement(fullQuery, 0);
    expect(explainPlan(counted.sql, counted.values)).toMatch(
      /USING COVERING INDEX|SEARCH directory_(counts|suffixes) USING PRIMARY KEY/,
    );
    const sorted = toSortedStatement(fullQuery, 0);
    const sortedPlan = explainPlan(sorted.sql, [...sorted.values, 20, 1_000]);
    // Suffixes are read once, and each match is looked up.
    const isSearch = sortedPlan.includes('directory_suffixes');
    if (isSearch)
      expect(sortedPlan).toMatch('SEARCH directory USING INTEGER PRIMARY KEY (rowid=?)');
    const { sql, values } = toOrderedStatement(fullQuery, 0);
    const pagePlan = explainPlan(sql, [...values, 20, 1_000]);
    expect(pagePlan).toMatch(/USING COVERING INDEX/);
    expect(pagePlan).not.toMatch('TEMP B-TREE');
  });

  test('find the right hosts', async () => {
    expect((await store.directory.list({ ...BASE_QUERY, q: 'shop-19' })).count).toBe(111);
    expect((await store.directory.list({ ...BASE_QUERY, category: 'media' })).count).toBe(200);
    expect((await store.directory.list(BASE_QUERY)).records[0]?.host).toBe('shop-1999.example.com');
    const lastPage = await store.directory.list({ ...BASE_QUERY, page: 39 });
    expect(lastPage.records.map((record) => record.host).at(-1)).toBe('shop-0.example.com');
    const lastFoundPage = await store.directory.list({ ...BASE_QUERY, q: 'example.com', page: 39 });
    expect(lastFoundPage.records).toEqual(lastPage.records);
  });
});

describe('a start with 10,000 unfinished payments among 20,000', () => {
  test('reads the unfinished payments in seconds', async () => {
    // The store is in memory, because 30,000 synced writes take too long.
    const busyStore = openSqlite(':memory:');
    for (let n = 0; n < 20_000; n += 1) {
      await busyStore.ledger.append(ledgerStep(`k${n}`, 1, 'claimed'));
      if (n % 2 === 0) await busyStore.ledger.append(ledgerStep(`k${n}`, 2, 'released'));
    }
    const startedMs = performance.now();
    let unfinished = 0;
    for await (const entry of busyStore.ledger.findUnfinished()) unfinished += entry.rows.length;
    expect(unfinished).toBe(10_000);
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    await busyStore.close();
  });
});

function explainPlan(sql: string, values: readonly SQLInputValue[]): string {
  const rows = reader.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  return rows.map((row) => String(row['detail'])).join('\n');
}

describe('the purge of 3,000 hosts that strangers made up', () => {
  test('deletes every row, and lets other work run in between', async () => {
    const clock = new TestClock();
    const filledStore = openSqlite(':memory:', { clock: clock.now });
    try {
      const hostCount = 3_000;
      for (let n = 0; n < hostCount; n += 1) {
        const host = `h${n}.example.com`;
        await filledStore.ownership.issueToken({ host, ...issuedToken(`t${n}`) });
      }
      let turns = 0;
      let isPurging = true;
      const runOtherWork = () => {
        turns += 1;
        if (isPurging) setImmediate(runOtherWork);
      };
      setImmediate(runOtherWork);
      const { other } = await filledStore.purge(clock.advance(HOUR_MS));
      isPurging = false;
      expect(other).toBe(hostCount);
      // One batch has 200 rows.
      expect(turns).toBeGreaterThanOrEqual(hostCount / 200);
    } finally {
      await filledStore.close();
    }
  });
});
