/** The embedded store with many rows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DirectoryQuery } from '../../src/store/context.ts';
import {
  countStatement,
  pageStatement,
  toSelection,
  toSortedSelection,
} from '../../src/store/sqlite/record-lists.ts';
import { openSqlite } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { issuedToken, ledgerStep, publishedScan } from './contract/samples.ts';
import { HOUR_MS, TestClock } from './contract/test-clock.ts';

const HOSTS = 2_000;
const QUERY: DirectoryQuery = { sort: 'recent', page: 0, pageSize: 50 };

let folder: string;
let store: Store;
let reader: DatabaseSync;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'store-'));
  const path = join(folder, 'scanner.db');
  store = openSqlite(path);
  for (let n = 0; n < HOSTS; n += 1) {
    const scan = publishedScan({ host: `shop-${n}.example.com`, scannedAtMs: n, score: n % 100 });
    const category = n % 10 === 0 ? 'media' : 'data';
    await store.publish({ ...scan, branding: { ...scan.branding, category } });
  }
  reader = new DatabaseSync(path, { readOnly: true });
});

afterAll(async () => {
  reader?.close();
  await store?.close();
  rmSync(folder, { recursive: true });
});

describe('directory queries over 2,000 hosts', () => {
  const queries: readonly Partial<DirectoryQuery>[] = [
    {},
    { sort: 'grade' },
    { category: 'media' },
    { category: 'media', sort: 'grade' },
  ];

  it.each(queries)('count and walk %j only in an index, and sort nothing', (query) => {
    const asked = { ...QUERY, ...query, q: '' };
    const selection = toSelection(asked, 0);
    const walk = /USING COVERING INDEX/;
    expect(plan(countStatement(selection), selection.values)).toMatch(walk);
    const page = plan(pageStatement(toSortedSelection(selection, asked), asked.sort), [
      ...selection.values,
      '[]',
      20,
      1_000,
    ]);
    expect(page).toMatch(walk);
    expect(page).not.toMatch('TEMP B-TREE');
  });

  it('give the right answers', async () => {
    expect((await store.directory.list({ ...QUERY, q: 'shop-19' })).count).toBe(111);
    expect((await store.directory.list({ ...QUERY, category: 'media' })).count).toBe(200);
    expect((await store.directory.list(QUERY)).records[0]?.host).toBe('shop-1999.example.com');
    const last = await store.directory.list({ ...QUERY, page: 39 });
    expect(last.records.map((record) => record.host).at(-1)).toBe('shop-0.example.com');
    const searched = await store.directory.list({ ...QUERY, q: 'example.com', page: 39 });
    expect(searched.records).toEqual(last.records);
  });
});

describe('a start with 10,000 unfinished payments among 20,000', () => {
  it('reads them in seconds', async () => {
    // The store is in memory, because 30,000 synced writes take too long.
    const busy = openSqlite(':memory:');
    for (let n = 0; n < 20_000; n += 1) {
      await busy.ledger.append(ledgerStep(`k${n}`, 1, 'claimed'));
      if (n % 2 === 0) await busy.ledger.append(ledgerStep(`k${n}`, 2, 'released'));
    }
    const startedMs = performance.now();
    let unfinished = 0;
    for await (const entry of busy.ledger.findUnfinished()) unfinished += entry.rows.length;
    expect(unfinished).toBe(10_000);
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    await busy.close();
  });
});

function plan(sql: string, values: readonly SQLInputValue[]): string {
  const rows = reader.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  return rows.map((row) => String(row['detail'])).join('\n');
}

describe('the purge of 3,000 hosts that strangers made up', () => {
  it('deletes every row, and serves others in between', async () => {
    const clock = new TestClock();
    const strangers = openSqlite(':memory:', { clock: clock.now });
    try {
      const hosts = 3_000;
      for (let n = 0; n < hosts; n += 1) {
        const host = `h${n}.example.com`;
        await strangers.ownership.issueToken({ host, ...issuedToken(`t${n}`) });
      }
      let turns = 0;
      let isPurging = true;
      const serveOthers = () => {
        turns += 1;
        if (isPurging) setImmediate(serveOthers);
      };
      setImmediate(serveOthers);
      const { other } = await strangers.purge(clock.advance(HOUR_MS));
      isPurging = false;
      expect(other).toBe(hosts);
      // One batch has 200 rows.
      expect(turns).toBeGreaterThanOrEqual(hosts / 200);
    } finally {
      await strangers.close();
    }
  });
});
