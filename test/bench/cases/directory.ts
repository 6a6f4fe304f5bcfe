/** Lists of the directory on the embedded store, as its size grows, counted by hand beside. */

import { DatabaseSync } from 'node:sqlite';
import type { DirectoryQuery } from '../../../src/store/contract/directory.ts';
import { verifiedSinceMs } from '../../../src/store/contract/ownership.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { openSqlite } from '../../../src/store/sqlite/store.ts';
import { publishedScan } from '../../store/contract/samples.ts';
import { type BenchCase, type Measurement, median } from '../measurement.ts';
import { seedDirectory } from '../seeded-directory.ts';
import { newDataFolder, usedBytes } from '../seeded-store.ts';

const NOW_MS = Date.UTC(2026, 8, 1);
const DAY_MS = 86_400_000;
/** A larger directory would fill the memory. */
const MAX_IN_MEMORY = 100_000;
const PAGE_SIZE = 20;
const TURN_MS = 5;

type Asked = readonly Partial<DirectoryQuery>[];

/** Every combination of order, category and proof. */
const FILTERS: Asked = (['recent', 'grade'] as const).flatMap((sort) =>
  [undefined, 'data', 'other'].flatMap((category) =>
    [undefined, true].map((verified) => ({ sort, category, verified })),
  ),
);
/** On many hosts, on some, on few, on none. */
const LONG = [
  'com',
  'api',
  'bad',
  'vercel',
  'workers.dev',
  'api.ba',
  'bade',
  'badefu',
  'nobody',
  '-zu',
];
const SHORT = ['a', 'z', '4', '-', 'de', 'zu', '02', 'q.'];

const directory: BenchCase = async ({ isQuick, hosts = isQuick ? [20, 200] : [20, 2_000] }) => {
  const rows: Measurement[] = [];
  let smallest: number | null = null;
  for (const size of hosts) {
    const measured = await measure(size, isQuick ? 1 : 5);
    rows.push(...measured.rows);
    smallest ??= measured.pageMs;
    rows.push({
      what: `${named(size)}: a page of any filter, of the smallest directory's`,
      value: measured.pageMs / smallest,
      unit: 'x',
      note: 'medians of the slowest filter; pages 0 to 100',
    });
  }
  return rows;
};

export default directory;

async function measure(hosts: number, repeats: number) {
  await using data = await newDataFolder(hosts > MAX_IN_MEMORY ? 'disk' : 'scratch');
  await seedDirectory(data.database, { hosts, sample: publishedScan(), nowMs: NOW_MS });
  const bytes = usedBytes(data.database);
  const store = openSqlite(data.database, { clock: () => NOW_MS });
  const counter = new DatabaseSync(data.database, { readOnly: true });
  try {
    const run = new Run(store, counter, repeats);
    const pageMs = await run.lists('a page of any filter', asked(FILTERS, [0, 1, 10, 100]));
    await run.lists('a page far behind', asked(FILTERS, pagesOf(hosts)));
    await run.lists('q of 3 and more, asked first', asked(searches(LONG), [0]), 1);
    await run.lists('q of 3 and more', asked(searches(LONG), [0, 5]));
    await run.lists('q of 1 and 2', asked(searches(SHORT), [0, 5]));
    await run.lists('q far behind', asked(searches([...SHORT, ...LONG]), pagesOf(hosts / 8)));
    const sinceMs = NOW_MS - 30 * DAY_MS;
    await run.time('featured', () => store.directory.featured({ sinceMs, limit: 1_000 }));
    await run.time('grades', () => store.directory.grades());
    await run.time('1,000 changes', () => store.changes.list({ sinceMs: 1, limit: 1_000 }));
    await run.time('a snapshot for export', () => store.exports.snapshot(10_000));
    const rows: Measurement[] = [
      ...run.rows,
      { what: 'bytes of a host', value: bytes / hosts, unit: 'bytes', note: 'one scan each' },
    ];
    return { pageMs, rows: rows.map((row) => ({ ...row, what: `${named(hosts)}: ${row.what}` })) };
  } finally {
    counter.close();
    await store.close();
  }
}

function asked(filters: Asked, pages: readonly number[]): DirectoryQuery[] {
  return filters.flatMap((filter) =>
    pages.map((page): DirectoryQuery => ({ sort: 'recent', ...filter, page, pageSize: PAGE_SIZE })),
  );
}

function searches(parts: readonly string[]): Asked {
  const some = FILTERS.filter(({ sort, category }) => sort === 'recent' && category !== 'other');
  return parts.flatMap((q) => some.map((filter) => ({ ...filter, q })));
}

/** In the middle, at three quarters, and the last. */
function pagesOf(hosts: number): readonly number[] {
  const last = Math.floor((hosts - 1) / PAGE_SIZE);
  return [...new Set([Math.floor(last / 2), Math.floor((last * 3) / 4), last])];
}

/** What was measured of one directory. */
class Run {
  readonly rows: Measurement[] = [];
  readonly #store: Store;
  readonly #counter: DatabaseSync;
  readonly #repeats: number;
  readonly #byHand = new Map<string, unknown>();

  constructor(store: Store, counter: DatabaseSync, repeats: number) {
    this.#store = store;
    this.#counter = counter;
    this.#repeats = repeats;
  }

  /** The median of the slowest question. Throws where a count is not what counting by hand says. */
  async lists(
    what: string,
    queries: readonly DirectoryQuery[],
    repeats = this.#repeats,
  ): Promise<number> {
    let slowest = { ms: 0, query: '' };
    for (const query of queries) {
      let count = 0;
      const ms = await processorMs(repeats, async () => {
        ({ count } = await this.#store.directory.list(query));
      });
      this.#compare(query, count);
      if (ms > slowest.ms) slowest = { ms, query: JSON.stringify(query) };
    }
    this.rows.push({ what, value: slowest.ms, unit: 'ms', note: slowest.query });
    return slowest.ms;
  }

  async time(what: string, work: () => Promise<unknown>): Promise<void> {
    this.rows.push({ what, value: await processorMs(this.#repeats, work), unit: 'ms' });
  }

  #compare({ category, verified, q = '' }: DirectoryQuery, count: number): void {
    const name = JSON.stringify([category, verified, q]);
    const byHand = this.#byHand.get(name) ?? this.#countByHand(category, verified, q);
    this.#byHand.set(name, byHand);
    if (byHand !== count) throw new Error(`${name}: ${count}, by hand ${byHand}`);
  }

  #countByHand(category: string | undefined, verified: boolean | undefined, q: string): unknown {
    return this.#counter
      .prepare(
        `SELECT count(*) AS count FROM records r
         WHERE (?1 IS NULL OR category = ?1) AND (?2 = '' OR instr(host, ?2) > 0)
           AND (?3 = 0 OR EXISTS (SELECT 1 FROM confirms c WHERE c.host = r.host AND c.at_ms > ?4))
           AND NOT EXISTS (SELECT 1 FROM listing l
             WHERE l.setting = 'listed' AND l.host = r.host AND l.value = 0)`,
      )
      .get(category ?? null, q, verified ? 1 : 0, verifiedSinceMs(NOW_MS))?.['count'];
  }
}

/** Of one call, all threads: the median of `repeats` turns, each of as many calls as can be told apart. */
async function processorMs(repeats: number, work: () => Promise<unknown>): Promise<number> {
  if (repeats === 1) return processorMsOf(1, work);
  const first = await processorMsOf(1, work);
  const calls = Math.min(50, Math.max(1, Math.ceil(TURN_MS / first)));
  const turns: number[] = [];
  for (let turn = 0; turn < repeats; turn += 1) turns.push(await processorMsOf(calls, work));
  return median(turns);
}

async function processorMsOf(calls: number, work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / calls;
}

function named(hosts: number): string {
  return `${hosts.toLocaleString('en-GB')} hosts`;
}
