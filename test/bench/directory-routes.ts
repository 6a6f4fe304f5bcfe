/** The directory as readers get it: page, route and feed of a large directory beside those of a small one. */
import type { Store } from '../../src/service/store/store.ts';
import { startApp } from '../fixtures/service/start-app.ts';
import { type Measurement, median } from './measurement.ts';
import type { SeededStore } from './seeded-directory.ts';

/** The page shows 30 of 20,000 hosts and the feed 50, but both show at most 20 of 20. The route shows 20 of either. */
const ROUTES = [
  { name: 'the page', path: '/directory?' },
  { name: 'the route', path: '/v1/directory?pageSize=20&' },
  { name: 'the feed', path: '/directory.atom?' },
] as const;

const WARM_UP_CALLS = 30;

type Directory = Awaited<ReturnType<typeof startApp>>;

/**
 * Gives the time of each kind of query on `large` as a multiple of the time of a full page of `small`. The note has
 * the multiple of the same query on `small`. The three are asked in turn, because
 * the machine may slow down meanwhile.
 */
export async function compareRoutes(
  name: string,
  { small, large }: { readonly small: SeededStore; readonly large: SeededStore },
  hosts: number,
  turns: number,
): Promise<readonly Measurement[]> {
  const start = (store: Store) =>
    startApp({ openStore: async () => store, environment: { RATE_LIMIT: 'off' } });
  const [smallApp, largeApp] = [await start(small.store), await start(large.store)];
  const queries = await listQueries(large.store, hosts);
  const timeOf = async (app: Directory, path: string) => {
    const began = large.clock();
    const { statusCode, body } = await app.get(path);
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${body}`);
    return large.clock() - began;
  };
  const rows: Measurement[] = [];
  for (const route of ROUTES) {
    const first = `${route.path}page=0`;
    const calls = turns === 1 ? 1 : WARM_UP_CALLS;
    for (let call = 0; call < calls; call += 1) {
      for (const app of [smallApp, largeApp]) await timeOf(app, first);
    }
    for (const [kind, query] of queries) {
      const path = `${route.path}${query}`;
      const times = { full: [], same: [], large: [] } as Record<string, number[]>;
      for (let turn = 0; turn < turns; turn += 1) {
        times['full']?.push(await timeOf(smallApp, first));
        times['same']?.push(await timeOf(smallApp, path));
        times['large']?.push(await timeOf(largeApp, path));
      }
      const [full = 1, same = 1, ms = 0] = Object.values(times).map(median);
      const note = `${ms.toPrecision(2)} ms; ${(ms / same).toPrecision(2)} x the same query`;
      rows.push({ what: `${name}: ${route.name}, ${kind}`, value: ms / full, unit: 'x', note });
    }
  }
  for (const app of [smallApp, largeApp]) await app.close();
  return rows;
}

/** One query of each kind. */
async function listQueries(large: Store, hosts: number) {
  const middle = { sort: 'recent', page: Math.floor(hosts / 2), pageSize: 1 } as const;
  const host = (await large.directory.list(middle)).records[0]?.host ?? 'nobody';
  const farPage = Math.floor(hosts / 100);
  return [
    ['all hosts', 'page=0'],
    ['by grade', 'sort=grade'],
    ['a grade', 'grade=A'],
    ['a category', 'category=data'],
    ['a category and grade', 'category=data&grade=A'],
    ['verified', 'verified=true'],
    ['verified, a grade', 'verified=true&grade=A'],
    ['payable today', 'payable=today'],
    ['payable today, a grade', 'payable=today&grade=A'],
    ['payable this week', 'payable=week'],
    ['payable this week, a category', 'payable=week&category=data'],
    ['q of 1 letter', 'q=a'],
    ['q of 2 letters', 'q=de'],
    ['q of 3 letters, many hosts', 'q=com'],
    ['q of 3 letters, few hosts', 'q=bad'],
    ['q of 6 letters, many hosts', 'q=vercel'],
    ['q of 6 letters, no host', 'q=badefu'],
    ['q of a whole name', `q=${host}`],
    ['q of 3 letters and a grade', 'q=api&grade=A'],
    ['q of 1 letter and a grade', 'q=a&grade=A'],
    ['a page in the middle', `page=${farPage}`],
    ['a page in the middle by grade', `page=${farPage}&sort=grade`],
  ] as const;
}
