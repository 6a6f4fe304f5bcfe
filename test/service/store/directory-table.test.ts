/** The embedded store: the table `directory` always equals what the records, owners and exclusions say. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { backupStore } from '../../../src/service/store/open-store.ts';
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { type Dice, diceOf, oneOf } from '../../fixtures/dice.ts';
import { folderPerTest } from '../../fixtures/temp-folder.ts';
import { listOrigin, writeCensusWords } from './contract/census-words.ts';
import { issuedToken, publishedScan } from './contract/samples.ts';
import { HOUR_MS, TestClock } from './contract/test-clock.ts';

const HOSTS = Array.from({ length: 12 }, (_, n) => `h${n}.example.com`);
const PAGE = { sort: 'recent', page: 0, pageSize: 100 } as const;

const folder = folderPerTest();
let path: string;
const opened: Store[] = [];

beforeEach(() => {
  path = folder.at('scanner.db');
});

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

function open(file: string, clock = new TestClock()): Store {
  const store = openSqlite(file, { clock: clock.now });
  opened.push(store);
  return store;
}

test('it and its counts are exact after each of many operations, and after a restart', async () => {
  const clock = new TestClock();
  const dice = diceOf(51);
  const store = open(path, clock);
  for (let done = 0; done < 400; done += 1) {
    await operate(store, clock, dice);
    expectExact(path);
  }
  await store.close();
  await open(path, clock).close();
  expectExact(path);
});

/** Some of the tables that older programs made for their lists. */
const OLDER_TABLES = `CREATE TABLE directory (id INTEGER PRIMARY KEY, host TEXT);
  CREATE INDEX directory_by_time ON directory (host);
  CREATE VIEW directory_now AS SELECT host FROM records;
  CREATE VIRTUAL TABLE directory_hosts USING fts5 (letters, content = '', contentless_delete = 1);
  CREATE TABLE directory_letters (letters TEXT); CREATE TABLE directory_weeks (hosts INTEGER);
  CREATE TRIGGER directory_records_insert AFTER INSERT ON records
    BEGIN INSERT INTO directory (host) VALUES (new.host); END;`;

test.each([
  { name: 'without tables for lists', tables: '' },
  { name: 'with other tables for lists', tables: OLDER_TABLES },
])(
  'an older store $name gets the tables when it is opened, and keeps its hosts',
  async ({ tables }) => {
    const clock = new TestClock();
    const dice = diceOf(52);
    const store = open(path, clock);
    for (let done = 0; done < 200; done += 1) await operate(store, clock, dice);
    const before = await store.directory.list({ ...PAGE, q: 'example' });
    await store.close();
    removeTables(path, tables);
    const again = open(path, clock);
    expectExact(path);
    expect(before.count).toBeGreaterThan(0);
    expect(await again.directory.list({ ...PAGE, q: 'example' })).toEqual(before);
    await again.publish(publishedScan({ host: 'new.example.com' }));
    expectExact(path);
    await again.close();
  },
);

test('a copy finds the hosts of a search, though the copy renumbers rows', async () => {
  const store = open(path);
  for (const host of HOSTS) await store.publish(publishedScan({ host }));
  // The rows that follow a hidden host get other numbers in the copy.
  await store.listing.set('h0.example.com', { listed: false });
  const copy = folder.at('copy.db');
  backupStore(`sqlite:${path}`, copy);
  const { records } = await open(copy).directory.list({ ...PAGE, q: 'h7.ex' });
  expect(records.map(({ host }) => host)).toEqual(['h7.example.com']);
  expectExact(copy);
});

test('it is exact after a process was killed while it wrote', async () => {
  const writer = new URL('directory-writer.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [writer, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await open(path).close();
  expect(expectExact(path)).toBeGreaterThan(0);
});

/** Any operation that changes what lists show. */
async function operate(store: Store, clock: TestClock, dice: Dice) {
  const host = oneOf(dice, HOSTS);
  const kind = dice.below(11);
  if (kind < 4) {
    const scan = publishedScan({
      host,
      scannedAtMs: clock.now() - dice.below(3),
      grade: oneOf(dice, ['A', 'B', 'F']),
      paidBy: oneOf(dice, ['census', 'payer']),
      reached: dice.below(4) > 0,
    });
    const branding = { ...scan.branding, category: oneOf(dice, ['data', 'media']) };
    await store.publish({ ...scan, branding });
  }
  if (kind === 4) await store.listing.set(host, { listed: dice.below(3) > 0 });
  if (kind === 5) await store.ownership.recordConfirm(host, issuedToken(`t${dice.below(1e9)}`));
  if (kind === 6 || kind === 7) {
    await listOrigin(store, host);
    await writeCensusWords(store, host, oneOf(dice, ['ppp', 'pdp', 'd', 'pppp']));
  }
  if (kind === 8) await store.exclusions.set(host, dice.below(2) === 0);
  if (kind === 9 && dice.below(3) === 0) await store.census.remove(host);
  if (kind === 10) {
    // An excluded host is removed after 30 days.
    clock.advance(oneOf(dice, [1, HOUR_MS, 31 * 24 * HOUR_MS]));
    await store.purge(clock.now());
  }
  clock.advance(dice.below(3));
}

/** Compares the rows with the view, and the suffixes and counts with the rows. Returns the number of rows. */
function expectExact(file: string): number {
  const reader = new DatabaseSync(file, { readOnly: true });
  try {
    const all = (sql: string) => reader.prepare(sql).all();
    const columns = all('SELECT name FROM pragma_table_info(?)'.replace('?', "'directory_now'"));
    const list = columns.map(({ name }) => `"${name}"`).join(', ');
    const rows = all(`SELECT ${list} FROM directory ORDER BY host`);
    expect(rows).toEqual(all(`SELECT ${list} FROM directory_now ORDER BY host`));
    const stored = all(`SELECT id, host, category, grade, "payableUntilMs", "payableWeekDays"
      FROM directory`);
    const suffixes = stored.flatMap(({ host: name, ...row }) => {
      const host = String(name);
      return Array.from(host, (_, n) => {
        const suffix = host.slice(n);
        const starts = Array.from(suffix, (_, last) => suffix.slice(0, last + 1));
        const repeated = starts.filter((start) => host.indexOf(start) < n).length;
        return { ...row, suffix, repeated };
      });
    });
    expect(sortRows(all('SELECT * FROM directory_suffixes'))).toEqual(sortRows(suffixes));
    const counts = stored.flatMap(({ host, category, grade, payableWeekDays }) =>
      ['', ...new Set(String(host))].map((letter) => ({
        ...{ letter, category, grade },
        payableWeekDays: payableWeekDays ?? '',
      })),
    );
    const counted = all('SELECT * FROM directory_counts').flatMap(({ hosts, ...row }) =>
      Array.from({ length: Number(hosts) }, () => row),
    );
    expect(sortRows(counted)).toEqual(sortRows(counts));
    expect(all('SELECT * FROM directory_counts WHERE hosts = 0')).toEqual([]);
    return rows.length;
  } finally {
    reader.close();
  }
}

function sortRows(rows: readonly Record<string, unknown>[]): readonly string[] {
  return rows
    .map((row) => JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .toSorted();
}

function removeTables(file: string, olderTables: string): void {
  const database = new DatabaseSync(file);
  const names = database.prepare(
    "SELECT type, name FROM sqlite_schema WHERE name LIKE 'directory%' AND type IN ('trigger', 'view')",
  );
  for (const { type, name } of names.all()) database.exec(`DROP ${type} "${name}"`);
  database.exec('DROP TABLE directory_suffixes; DROP TABLE directory_counts; DROP TABLE directory');
  database.exec(olderTables);
  database.close();
}
