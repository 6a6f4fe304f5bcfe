/** The embedded store with many rows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DirectoryQuery } from '../../src/store/contract/directory.ts';
import type { Store } from '../../src/store/contract/store.ts';
import { directoryStatements } from '../../src/store/sqlite/directory-statements.ts';
import { openSqlite } from '../../src/store/sqlite/store.ts';
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
  it.each<[string, Partial<DirectoryQuery>, string]>([
    ['newest first', {}, 'records_by_time'],
    ['best first', { sort: 'grade' }, 'records_by_grade'],
    ['a category', { category: 'media' }, 'records_by_category_and_time'],
    [
      'a category, best first',
      { category: 'media', sort: 'grade' },
      'records_by_category_and_grade',
    ],
  ])('read %s in the order of an index, without sorting', (_, query, index) => {
    const plan = planOfPage({ ...QUERY, ...query });
    expect(plan).toContain(index);
    expect(plan).not.toContain('TEMP B-TREE');
  });

  it.each([
    ['shop-19', 'VIRTUAL TABLE INDEX'],
    ['77', 'host_grams USING PRIMARY KEY'],
    ['7', 'host_grams USING PRIMARY KEY'],
  ])('find the substring %j by an index, and no host is scanned', (q, index) => {
    for (const plan of [planOfPage({ ...QUERY, q }), planOfCount({ ...QUERY, q })]) {
      expect(plan).toContain(index.replace('host_grams', 'g'));
      expect(plan).not.toMatch(/SCAN r\b/);
    }
  });

  it.each([[{}], [{ category: 'media' }], [{ verified: true }]])(
    'count %j from an index alone',
    (query) => {
      const plan = planOfCount({ ...QUERY, ...query });
      expect(plan).toMatch(/(SCAN|SEARCH) r USING (COVERING )?INDEX/);
    },
  );

  it('answer what they should', async () => {
    expect((await store.directory.list({ ...QUERY, q: 'shop-19' })).count).toBe(111);
    expect((await store.directory.list({ ...QUERY, category: 'media' })).count).toBe(200);
    expect((await store.directory.list(QUERY)).records[0]?.host).toBe('shop-1999.example.com');
  });
});

describe('a start with 10,000 unfinished payments among 20,000', () => {
  it('reads them in under two seconds', async () => {
    // In memory, because 30,000 synced writes would take longer than all the rest.
    const busy = openSqlite(':memory:');
    for (let n = 0; n < 20_000; n += 1) {
      await busy.ledger.append(ledgerStep(`k${n}`, 1, 'claimed'));
      if (n % 2 === 0) await busy.ledger.append(ledgerStep(`k${n}`, 2, 'released'));
    }
    const startedMs = performance.now();
    let unfinished = 0;
    for await (const entry of busy.ledger.unfinished()) unfinished += entry.rows.length;
    expect(unfinished).toBe(10_000);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    await busy.close();
  });
});

function planOfPage(query: DirectoryQuery): string {
  const { page, values } = statements(query);
  return plan(page, [...values, query.pageSize, query.page * query.pageSize]);
}

function planOfCount(query: DirectoryQuery): string {
  const { count, values } = statements(query);
  return plan(count, values);
}

function statements(query: DirectoryQuery) {
  const found = directoryStatements(query, 0);
  if (!found) throw new Error('no host can match');
  return found;
}

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
