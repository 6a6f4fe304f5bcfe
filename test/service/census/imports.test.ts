/** Imports run once a day and choose origins; a broken import leaves the known origins as they were. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { DEFAULT_POLICY } from '../../../src/scanner/guard/origin.ts';
import { createAnswerReader } from '../../../src/scanner/third-parties/answer-reader.ts';
import { Wishes } from '../../../src/service/census/choose-origins.ts';
import { CensusImports } from '../../../src/service/census/import.ts';
import type { CensusConfig } from '../../../src/service/config/census.ts';
import { bazaarItem, resourceRow, trpc } from '../../scanner/indexes/recorded-answers.ts';
import { type StandInAnswer, startStandIn } from '../../scanner/indexes/stand-in.ts';
import { DAY_MS, HOUR_MS, hostsBetween, lookTimeMs, START_MS, startCensus } from './census-rig.ts';

const answers = createAnswerReader();
afterAll(() => answers.close());

const BASE_CONFIG = {
  filePath: null,
  excludePath: null,
  maxOrigins: 100,
  contactEmail: 'a@b.example',
  post: 'declared',
} as const;

/** Two indexes, whose lists the test changes, and the imports of one service. */
async function startImports(config: Partial<CensusConfig> = {}) {
  const lists = { bazaar: [] as string[], x402scan: [] as string[] };
  const indexState = { lists, broken: false, answersAfter: Promise.resolve() };
  const index = await startStandIn(async ({ pathname, searchParams }): Promise<StandInAnswer> => {
    await indexState.answersAfter;
    if (!pathname.endsWith('/discovery/resources')) {
      const items = lists.x402scan.map((url) => resourceRow(url, { method: 'POST' }));
      return { json: trpc({ items, total_count: items.length, page: 0 }) };
    }
    const offset = Number(searchParams.get('offset'));
    if (indexState.broken && offset > 0) return { status: 500, json: {} };
    const items = lists.bazaar.slice(offset, offset + 2).map((resource) => ({
      ...bazaarItem(null),
      resource,
    }));
    return { json: { items, pagination: { limit: 2, offset, total: lists.bazaar.length } } };
  });
  onTestFinished(() => index.close());
  const rig = startCensus();
  const troubles: string[] = [];
  const newImports = () =>
    new CensusImports({
      ...{ store: rig.store, policy: DEFAULT_POLICY, userAgent: 'test', answers },
      wishes: new Wishes({
        ...{ store: rig.store, policy: DEFAULT_POLICY },
        excludePath: config.excludePath ?? null,
        onError: (message) => troubles.push(message),
      }),
      siteUrl: 'https://scanner.example',
      wait: async () => undefined,
      onError: (message) => troubles.push(message),
      config: {
        indexes: [
          { name: 'bazaar', url: index.url },
          { name: 'x402scan', url: index.url },
        ],
        ...BASE_CONFIG,
        ...config,
      },
    });
  const imports = newImports();
  return {
    ...{ rig, indexState, lists, index, troubles, imports, newImports },
    /** The import of the next day. */
    async nextDay() {
      rig.clock.nowMs = (rig.today() + 1) * DAY_MS + DAY_MS - 1_000;
      await imports.runDue();
    },
    async listChosen(): Promise<readonly string[]> {
      const hosts: string[] = [];
      for await (const rows of rig.store.census.readSummaries()) {
        hosts.push(...rows.filter(({ isChosen }) => isChosen).map(({ host }) => host));
      }
      return hosts.toSorted();
    },
    resources: async (host: string) => (await rig.store.census.get(host))?.listing['resources'],
  };
}

async function writeListFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'census-import-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'list.txt');
  await writeFile(path, text);
  return path;
}

test('each source is read at once, and then once a UTC day', async () => {
  const { rig, index, imports } = await startImports();
  await imports.runDue();
  expect(index.requestedPaths).toHaveLength(2);
  await imports.runDue();
  rig.clock.nowMs = START_MS + 23 * HOUR_MS;
  await imports.runDue();
  expect(index.requestedPaths).toHaveLength(2);
  for (let hour = 24; hour < 48; hour += 1) {
    rig.clock.nowMs = START_MS + hour * HOUR_MS + HOUR_MS - 1;
    await imports.runDue();
  }
  expect(index.requestedPaths).toHaveLength(4);
});

test('an origin that both indexes list is kept once, with two resources and the day of each index', async () => {
  const { rig, lists, imports, listChosen, resources } = await startImports();
  lists.bazaar.push('https://shop.com/a', 'https://other.com/a');
  lists.x402scan.push('https://shop.com/b', 'https://shop.com/c');
  await imports.runDue();
  expect(await listChosen()).toEqual(['other.com', 'shop.com']);
  expect(imports.originCount).toBe(2);
  expect(await resources('shop.com')).toEqual([
    { method: 'GET', path: '/a', sources: ['bazaar'] },
    { method: 'POST', path: '/b', sources: ['x402scan'] },
  ]);
  const day = rig.today();
  expect(await rig.store.census.get('shop.com')).toMatchObject({
    ...{ originUrl: 'https://shop.com', domain: 'shop.com', firstDay: day, lastDay: day },
    listing: { sources: { bazaar: day, x402scan: day } },
  });
});

test('the first look at an origin is today if its time of day is still to come, else tomorrow', async () => {
  const { rig, lists, imports } = await startImports();
  const [early = '', late = ''] = [...hostsBetween(1, 2, 1), ...hostsBetween(22, 23, 1)];
  lists.bazaar.push(`https://${early}/a`, `https://${late}/a`);
  rig.clock.nowMs = START_MS + 12 * HOUR_MS;
  await imports.runDue();
  const day = rig.today();
  expect((await rig.store.census.get(early))?.lookAtMs).toBe(lookTimeMs(early, day + 1));
  expect((await rig.store.census.get(late))?.lookAtMs).toBe(lookTimeMs(late, day));
});

describe('an import that breaks off', () => {
  test('adds the pages that it read, and keeps the known origins', async () => {
    const { indexState, lists, imports, nextDay, listChosen, resources, troubles } =
      await startImports();
    lists.bazaar.push('https://a.com/1', 'https://b.com/1', 'https://c.com/1');
    await imports.runDue();
    expect(await listChosen()).toEqual(['a.com', 'b.com', 'c.com']);
    indexState.broken = true;
    lists.bazaar.splice(0, 3, 'https://new.com/1', 'https://b.com/2', 'https://late.com/1');
    await nextDay();
    expect(await listChosen()).toEqual(['a.com', 'b.com', 'c.com', 'new.com']);
    expect(await resources('b.com')).toEqual([
      { method: 'GET', path: '/1', sources: ['bazaar'] },
      { method: 'GET', path: '/2', sources: ['bazaar'] },
    ]);
    expect(troubles).toEqual([expect.stringMatching(/^census: the import of bazaar broke off: /)]);
    expect(imports.failedDays.get('bazaar')).toBe(1);
    await nextDay();
    expect(imports.failedDays.get('bazaar')).toBe(2);
    indexState.broken = false;
    await nextDay();
    expect(imports.failedDays.get('bazaar')).toBe(0);
    expect(await resources('b.com')).toEqual([{ method: 'GET', path: '/2', sources: ['bazaar'] }]);
  });
});

test('CENSUS_EXCLUDE is read at each import, and the hosts that it names get no more requests', async () => {
  const exclude = await writeListFile('');
  const { rig, lists, imports, nextDay, listChosen } = await startImports({ excludePath: exclude });
  lists.bazaar.push('https://a.shop.com/1', 'https://b.shop.com/1', 'https://other.com/1');
  await imports.runDue();
  expect(await listChosen()).toHaveLength(3);
  await writeFile(exclude, 'shop.com # wrote a mail\n');
  await nextDay();
  expect(await listChosen()).toEqual(['other.com']);
  await rig.passDays(1);
  expect(new Set(rig.askedHosts())).toEqual(new Set(['other.com']));
  await writeFile(exclude, '');
  await nextDay();
  expect(await listChosen()).toHaveLength(3);
});

test('20 origins of a domain are kept, and the others have no row', async () => {
  const { rig, lists, imports } = await startImports();
  for (let n = 0; n < 60; n += 1) lists.x402scan.push(`https://h${n}.farm.com/1`);
  lists.x402scan.push('https://shop.com/1');
  await imports.runDue();
  expect(imports.originCount).toBe(21);
  let rows = 0;
  for await (const batch of rig.store.census.readSummaries()) rows += batch.length;
  expect(rows).toBe(21);
});

test.each([
  ['IPv4 literals of one /24', (n: number) => `203.0.114.${n}`, 20],
  ['IPv4 literals of two /24', (n: number) => `203.0.${114 + (n % 2)}.${n}`, 40],
  ['IPv6 literals of one /48', (n: number) => `[2600:1:2:${n}::${n}]`, 20],
  ['IPv6 literals of two /48', (n: number) => `[2600:1:${2 + (n % 2)}::${n}]`, 40],
])('20 origins of a network are kept: %s', async (_, toHost, count) => {
  const { lists, imports } = await startImports();
  for (let n = 1; n <= 60; n += 1) lists.x402scan.push(`https://${toHost(n)}/paid`);
  await imports.runDue();
  expect(imports.originCount).toBe(count);
});

test('a file is read like an index', async () => {
  const file = await writeListFile(
    'shop.com # an origin\nhttps://other.com/paid?x=1\nhttp://plain.com/\n',
  );
  const { rig, imports, resources } = await startImports({ indexes: [], filePath: file });
  await imports.runDue();
  expect(await resources('shop.com')).toEqual([]);
  expect(await resources('other.com')).toEqual([
    { method: 'GET', path: '/paid?x=1', sources: ['file'] },
  ]);
  expect(await rig.store.census.get('plain.com')).toBeNull();
});

test('two instances on one store read each source once, and choose the same origins', async () => {
  const { rig, indexState, lists, index, imports, newImports, listChosen, troubles } =
    await startImports();
  for (let n = 0; n < 60; n += 1) lists.x402scan.push(`https://h${n}.farm.com/1`);
  lists.bazaar.push('https://one.farm.com/1', 'https://two.farm.com/1');
  const otherImports = newImports();
  const answering = Promise.withResolvers<void>();
  indexState.answersAfter = answering.promise;
  const running = imports.runDue();
  await expect.poll(() => index.requestedPaths).toHaveLength(1);
  await otherImports.runDue();
  expect(index.requestedPaths).toHaveLength(1);
  answering.resolve();
  await running;
  await otherImports.runDue();
  expect(index.requestedPaths).toHaveLength(2);
  expect(await rig.store.census.findImports('bazaar')).toHaveLength(1);
  expect(await listChosen()).toHaveLength(20);
  expect(troubles).toEqual([]);
});

test('what a scan found to be sold enters at the next import, although 20 rows of strangers are known', async () => {
  const { rig, lists, imports, nextDay, resources } = await startImports();
  const strangers = Array.from({ length: 40 }, (_, n) => `https://shop.com/gone-${n}`);
  lists.bazaar.push(...strangers, 'https://shop.com/a', 'https://shop.com/b');
  await imports.runDue();
  const row = await rig.store.census.get('shop.com');
  const sold = ['/a', '/b'].map((path) => ({ method: 'GET', path }) as const);
  await rig.store.census.change('shop.com', { listing: { ...row?.listing, sold } });
  await nextDay();
  const chosen = await resources('shop.com');
  expect(new Set((chosen as { path: string }[]).map(({ path }) => path))).toEqual(
    new Set(['/a', '/b']),
  );
});
