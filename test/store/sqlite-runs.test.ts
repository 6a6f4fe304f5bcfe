/** The embedded store's counters of runs of characters, one by one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CommonRuns, LONGEST_COUNTED, longerRunsOf } from '../../src/store/sqlite/common-runs.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { rebuildListed } from '../../src/store/sqlite/rebuild-listed.ts';
import { openSqlite } from '../../src/store/sqlite/store.ts';
import { publishedScan } from './contract/samples.ts';

const COMMON_ABOVE = 3;
const SEARCH = { candidates: COMMON_ABOVE, slice: 4, lookCost: 8 };
/** A long run that all have, one with itself in it, and runs of digits that few have. */
const HOSTS = Array.from({ length: 24 }, (_, n) => `${n % 2 ? 'aaaaaa' : 'shop'}-${n}.dev.example`);

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

describe('longer runs', () => {
  it('are those whose two shorter halves are common, up to a length', () => {
    const common = new Set(['abc', 'bcd', 'cde', 'abcd']);
    const isCommon = (run: string) => common.has(run);
    expect(longerRunsOf('abcdefg', isCommon)).toEqual(['abcd', 'bcde']);
    expect(longerRunsOf('xabc', isCommon)).toEqual([]);
    const all = longerRunsOf('0123456789'.repeat(5), () => true).map((run) => run.length);
    expect(Math.max(...all)).toBe(LONGEST_COUNTED);
  });
});

describe('counters of runs', () => {
  it('are those of counting by hand, as hosts come and go one by one, and all at once', async () => {
    const path = newPath();
    const store = openSqlite(path, { search: SEARCH });
    for (const host of HOSTS) await store.publish(publishedScan({ host }));
    for (const host of HOSTS.slice(0, 4)) await store.listing.set(host, { listed: false });
    await store.publish(publishedScan({ host: 'new.dev.example' }));
    await store.close();
    const hosts = [...HOSTS.slice(4), 'new.dev.example'];

    const connection = new Connection(path, path);
    const followed = countersOf(connection);
    expect(followed.size).toBeGreaterThan(200);
    for (const [run, n] of followed) {
      expect(n, run).toBe(hosts.filter((host) => host.includes(run)).length);
    }
    connection.transaction(() => rebuildListed(connection, COMMON_ABOVE));
    for (const [run, n] of countersOf(connection)) expect(followed.get(run), run).toBe(n);
    expect(new CommonRuns(connection).has('dev.exampl')).toBe(true);
    expect(new CommonRuns(connection).has('aaaaaa')).toBe(true);
    connection.close();
  });

  it('forget what a publication that failed had made common', async () => {
    const path = newPath();
    const store = openSqlite(path, { search: SEARCH });
    for (const host of HOSTS.slice(0, 3)) await store.publish(publishedScan({ host }));
    const connection = new Connection(path, path);
    connection.exec(`CREATE TRIGGER too_many BEFORE INSERT ON common_runs
      WHEN (SELECT count(*) FROM common_runs) = 3 BEGIN SELECT RAISE(ABORT, 'no'); END`);
    await expect(store.publish(publishedScan({ host: 'x.dev.example' }))).rejects.toThrow();
    connection.exec('DROP TRIGGER too_many');
    connection.close();
    for (const host of HOSTS.slice(3)) await store.publish(publishedScan({ host }));
    for (const q of ['dev.exam', 'mple', '.dev.example']) {
      const found = await store.directory.list({ sort: 'recent', q, page: 0, pageSize: 5 });
      expect(found.count, q).toBe(HOSTS.length);
    }
    await store.close();
  });
});

/** Without those that no host has any more. */
function countersOf(connection: Connection): ReadonlyMap<string, number> {
  const rows = connection.all(
    'SELECT ngram, sum(n) AS n FROM ngram_counts GROUP BY 1 HAVING n > 0',
  );
  return new Map(rows.map((row) => [row.text('ngram'), row.integer('n')]));
}

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  folders.push(folder);
  return join(folder, 'scanner.db');
}
