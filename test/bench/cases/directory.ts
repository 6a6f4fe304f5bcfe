/** Lists of the directory as its size grows: every count is compared with counting by hand. */

import { toFeaturedQuery } from '../../../src/service/directory/project.ts';
import type { DirectoryQuery } from '../../../src/service/store/context.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { publishedScan } from '../../service/store/contract/samples.ts';
import { CountsByHand } from '../counts-by-hand.ts';
import { compareRoutes } from '../directory-routes.ts';
import { type BenchCase, type Measurement, median } from '../measurement.ts';
import { openSeeded } from '../seeded-directory.ts';
import type { DirectorySeed } from '../seeded-hosts.ts';
import { openSeededShared } from '../seeded-shared.ts';

const NOW_MS = Date.UTC(2026, 8, 1);
const PAGE_SIZE = 20;
const TURN_MS = 5;
const SMALLEST_NOTE = 'of the slowest page, asked again, of the smallest directory of this run';
const WARM_UP_CALLS = 20;
const NEAR_PAGES = [0, 1, 10, 100];

type Filters = readonly Partial<DirectoryQuery>[];

/** Every combination of order, grade, category and proof. */
const FILTERS: Filters = (['recent', 'grade', 'new'] as const).flatMap((sort) =>
  ([undefined, 'A', 'F'] as const).flatMap((grade) =>
    [undefined, 'data', 'other'].flatMap((category) =>
      [undefined, true].map((verified) => ({ sort, grade, category, verified })),
    ),
  ),
);
const PAYABLE: Filters = FILTERS.flatMap((filter) =>
  (['today', 'week'] as const).map((payable) => ({ ...filter, payable })),
);
/** Substrings of many hosts, of some, of few and of none. */
const LONG_SUBSTRINGS = [
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
const SHORT_SUBSTRINGS = ['a', 'z', '4', '-', 'de', 'zu', '02', 'q.'];

const directory: BenchCase = async ({ isQuick, store: kind = 'sqlite', hosts }) => {
  const rows: Measurement[] = [];
  const open = kind === 'sqlite' ? openSeeded : openSeededShared;
  const sizes = hosts ?? (isQuick ? [20, 200] : [20, 2_000]);
  let smallest: number | null = null;
  for (const size of sizes) {
    const { pageMs, firstMs, rows: measured } = await measure(open, size, isQuick ? 1 : 5);
    const name = `${kind}, ${size.toLocaleString('en-GB')} hosts`;
    rows.push(...measured.map((row) => ({ ...row, what: `${name}: ${row.what}` })));
    smallest ??= pageMs;
    rows.push({
      what: `${name}: a page of any filter, asked again`,
      value: pageMs / smallest,
      unit: 'x',
      note: SMALLEST_NOTE,
    });
    rows.push({
      what: `${name}: each page of any filter asked first, on average`,
      value: firstMs / smallest,
      unit: 'x',
      note: SMALLEST_NOTE,
    });
  }
  const [smallSize = 20, ...largeSizes] = sizes;
  for (const size of largeSizes) {
    await using small = await open(seedOf(smallSize));
    await using large = await open(seedOf(size));
    const name = `${kind}, ${size.toLocaleString('en-GB')} hosts beside ${smallSize}`;
    const turns = isQuick || kind === 'mongodb' ? 1 : 21;
    rows.push(...(await compareRoutes(name, { small, large }, size, turns)));
  }
  return rows;
};

export default directory;

function seedOf(hosts: number): DirectorySeed {
  return { hosts, sample: publishedScan(), nowMs: NOW_MS, hasCensus: true };
}

async function measure(open: typeof openSeeded, hosts: number, repeats: number) {
  const seed = seedOf(hosts);
  await using seeded = await open(seed);
  const { store, bytes, clock } = seeded;
  const run = new DirectoryMeter(store, new CountsByHand(seed), repeats, clock);
  await run.warmUp();
  const firstMs = await run.eachOnce('each page from 0 to 100 of any filter once, on average');
  const pageMs = await run.lists(
    'a page of any filter, pages 0 to 100',
    toQueries(FILTERS, NEAR_PAGES),
  );
  await run.lists('payable hosts', toQueries(PAYABLE, [0, 5]));
  await run.lists('a page far behind', toQueries(FILTERS, listFarPages(hosts)));
  await run.lists(
    'q of 3 and more, asked first',
    toQueries(withSubstrings(LONG_SUBSTRINGS), [0]),
    1,
  );
  await run.lists('q of 3 and more', toQueries(withSubstrings(LONG_SUBSTRINGS), [0, 5]));
  await run.lists('q of 1 and 2', toQueries(withSubstrings(SHORT_SUBSTRINGS), [0, 5]));
  await run.lists(
    'q, a page far behind',
    toQueries(withSubstrings([...SHORT_SUBSTRINGS, ...LONG_SUBSTRINGS]), listFarPages(hosts / 8)),
  );
  await run.time('featured', () => store.directory.list(toFeaturedQuery(NOW_MS, 1_000)));
  await run.time('grades', () => store.directory.countByGrade());
  await run.time('1,000 changes', () => store.changes.list({ sinceMs: 1, limit: 1_000 }));
  await run.time('a snapshot for export', () => store.exports.takeSnapshot(10_000));
  if (bytes !== null) {
    const note = 'with one scan each, published';
    run.rows.push({ what: 'a host', value: bytes / hosts, unit: 'bytes', note });
  }
  return { pageMs, firstMs, rows: run.rows };
}

function toQueries(filters: Filters, pages: readonly number[]): DirectoryQuery[] {
  return filters.flatMap((filter) =>
    pages.map((page): DirectoryQuery => ({ sort: 'recent', ...filter, page, pageSize: PAGE_SIZE })),
  );
}

function withSubstrings(substrings: readonly string[]): Filters {
  const filters = FILTERS.filter(
    ({ sort, grade, category }) => sort === 'recent' && grade !== 'A' && category !== 'other',
  );
  return substrings.flatMap((q) => filters.map((filter) => ({ ...filter, q })));
}

/** Lists the page in the middle, the page at three quarters, and the last page. */
function listFarPages(hosts: number): readonly number[] {
  const last = Math.floor((hosts - 1) / PAGE_SIZE);
  return [...new Set([Math.floor(last / 2), Math.floor((last * 3) / 4), last])];
}

/** Measures one directory. */
class DirectoryMeter {
  readonly rows: Measurement[] = [];
  readonly #store: Store;
  readonly #byHand: CountsByHand;
  readonly #repeats: number;
  readonly #clock: () => number;

  constructor(store: Store, byHand: CountsByHand, repeats: number, clock: () => number) {
    this.#store = store;
    this.#byHand = byHand;
    this.#repeats = repeats;
    this.#clock = clock;
  }

  /** Returns the median of the slowest query. Throws if a count differs from the count by hand. */
  async lists(
    what: string,
    queries: readonly DirectoryQuery[],
    repeats = this.#repeats,
  ): Promise<number> {
    let slowest = { ms: 0, query: '' };
    for (const query of queries) {
      let count = 0;
      const ms = await this.#ms(repeats, async () => {
        ({ count } = await this.#store.directory.list(query));
      });
      const byHand = this.#byHand.count(query);
      const queryText = JSON.stringify(query);
      if (byHand !== count) throw new Error(`${queryText}: ${count} matches, by hand ${byHand}`);
      if (ms > slowest.ms) slowest = { ms, query: queryText };
    }
    this.rows.push({ what, value: slowest.ms, unit: 'ms', note: slowest.query });
    return slowest.ms;
  }

  /** Makes each call before anything is measured, because V8 compiles the first calls while they run. */
  async warmUp(): Promise<void> {
    for (let call = 0; call < WARM_UP_CALLS; call += 1) {
      for (const query of toQueries(FILTERS, [0])) await this.#store.directory.list(query);
    }
  }

  /** Requests no page twice, so that no page is cached. */
  async eachOnce(what: string): Promise<number> {
    const pages = Array.from({ length: this.#repeats > 1 ? 101 : 2 }, (_, page) => page);
    const queries = toQueries(FILTERS, pages);
    const startMs = this.#clock();
    for (const query of queries) await this.#store.directory.list(query);
    const value = (this.#clock() - startMs) / queries.length;
    this.rows.push({ what, value, unit: 'ms', note: 'pages behind the last included' });
    return value;
  }

  async time(what: string, work: () => Promise<unknown>): Promise<void> {
    this.rows.push({ what, value: await this.#ms(this.#repeats, work), unit: 'ms' });
  }

  /** Time of one call in ms: the median of `repeats` turns. A turn has enough calls to last TURN_MS. */
  async #ms(repeats: number, work: () => Promise<unknown>): Promise<number> {
    const first = await this.#turn(1, work);
    if (repeats === 1) return first;
    const calls = Math.min(50, Math.max(1, Math.ceil(TURN_MS / first)));
    const turns: number[] = [];
    for (let turn = 0; turn < repeats; turn += 1) turns.push(await this.#turn(calls, work));
    return median(turns);
  }

  async #turn(calls: number, work: () => Promise<unknown>): Promise<number> {
    const startMs = this.#clock();
    for (let call = 0; call < calls; call += 1) await work();
    return (this.#clock() - startMs) / calls;
  }
}
