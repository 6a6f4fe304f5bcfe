/** The census chooses the origins to request among all listed origins. */
import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DEFAULT_POLICY } from '../../../src/scanner/guard/origin.ts';
import { type Candidate, chooseOrigins } from '../../../src/service/census/choose-origins.ts';
import { createKeyedHash, lookTimeMs } from '../../../src/service/census/plan.ts';
import { parseExclusions, readExcludeFile, readLines } from '../../../src/service/config/census.ts';
import { keyedHash } from './census-rig.ts';

const NO_DOMAINS: ReadonlySet<string> = new Set();

function makeCandidates(count: number, domainOf: (n: number) => string): readonly Candidate[] {
  return Array.from({ length: count }, (_, n) => ({
    host: `h${n}.${domainOf(n)}`,
    domain: domainOf(n),
  }));
}

const choose = (all: readonly Candidate[], maxOrigins = 1_000, excluded = NO_DOMAINS) =>
  chooseOrigins(all, { maxOrigins, excluded, keyedHash });

const byHash = (all: readonly Candidate[]) =>
  all
    .map(({ host }) => host)
    .toSorted((a, b) => (keyedHash(`place ${a}`) < keyedHash(`place ${b}`) ? -1 : 1));

describe('of one registrable domain', () => {
  test.each([
    [19, 19, 0],
    [20, 20, 0],
    [21, 20, 1],
    [500, 20, 480],
  ])('%d origins: %d are chosen, %d are left out', async (count, chosenCount, leftOutCount) => {
    const { hosts, leftOut } = await choose(makeCandidates(count, () => 'farm.com'));
    expect(hosts.size).toBe(chosenCount);
    expect(leftOut).toEqual({ excluded: 0, domain: leftOutCount, max: 0 });
  });

  test('the hosts with the lowest hash are chosen, in any order of the list', async () => {
    const all = makeCandidates(100, () => 'farm.com');
    const expected = new Set(byHash(all).slice(0, 20));
    expect((await choose(all)).hosts).toEqual(expected);
    expect((await choose(all.toReversed())).hosts).toEqual(expected);
    expect((await choose(all.toSorted((a, b) => a.host.localeCompare(b.host)))).hosts).toEqual(
      expected,
    );
  });

  test('the host with the next hash is chosen if the host with the lowest hash is not listed any more', async () => {
    const all = makeCandidates(100, () => 'farm.com');
    const [lowest = '', ...others] = byHash(all);
    const remaining = all.filter(({ host }) => host !== lowest);
    expect((await choose(remaining)).hosts).toEqual(new Set(others.slice(0, 20)));
  });
});

test.each([
  [29, 29, 1],
  [30, 30, 0],
  [31, 30, 0],
])(
  'with room for %d of 30 origins, %d are chosen and %d left out',
  async (max, chosenCount, leftOutCount) => {
    const all = makeCandidates(30, (n) => `shop-${n}.com`);
    const { hosts, leftOut } = await choose(all, max);
    expect(hosts).toEqual(new Set(byHash(all).slice(0, chosenCount)));
    expect(leftOut.max).toBe(leftOutCount);
  },
);

test('hosts beyond 20 of a domain are left out before CENSUS_MAX applies', async () => {
  const all = [
    ...makeCandidates(60, () => 'farm.com'),
    ...makeCandidates(10, (n) => `shop-${n}.com`),
  ];
  const { hosts, leftOut } = await choose(all, 25);
  expect(hosts.size).toBe(25);
  expect(leftOut).toEqual({ excluded: 0, domain: 40, max: 5 });
});

describe('CENSUS_EXCLUDE leaves out', () => {
  const all = [
    { host: 'a.shop.com', domain: 'shop.com' },
    { host: 'a.shop.com:8443', domain: 'shop.com' },
    { host: 'b.shop.com', domain: 'shop.com' },
    { host: 'notshop.com', domain: 'notshop.com' },
  ];

  test.each([
    ['a host, at each port', 'a.shop.com', ['b.shop.com', 'notshop.com']],
    ['a host at one port', 'a.shop.com:8443', ['a.shop.com', 'b.shop.com', 'notshop.com']],
    ['a registrable domain', 'shop.com', ['notshop.com']],
    ['no host by a part of its name', 'hop.com', all.map(({ host }) => host)],
  ])('%s', async (_, entry, keptHosts) => {
    const { hosts, leftOut } = await choose(all, 10, new Set([entry]));
    expect([...hosts].toSorted()).toEqual(keptHosts.toSorted());
    expect(leftOut.excluded).toBe(all.length - keptHosts.length);
  });
});

test('who is asked already keeps the place, and new places go to one host of each domain first', async () => {
  const sellers = makeCandidates(300, (n) => `shop-${n}.com`);
  const strangers = Array.from({ length: 25 }, (_, n) => n).flatMap((n) =>
    makeCandidates(20, () => `ground-${n}.com`),
  );
  const first = await choose([...sellers, ...strangers], 100);
  const strangersChosen = [...first.hosts].filter((host) => host.includes('ground'));
  expect(strangersChosen.length).toBeLessThanOrEqual(25);
  const askedSellers = sellers.slice(0, 100).map((seller) => ({ ...seller, isAsked: true }));
  const later = await choose([...askedSellers, ...strangers], 100);
  expect(later.hosts).toEqual(new Set(askedSellers.map(({ host }) => host)));
});

describe('names that somebody ground with a public hash', () => {
  const STORES = [keyedHash, createKeyedHash('the secret of another store')];
  const publicHash = (text: string) => hash('sha256', text);
  const toMinute = (hex: string) =>
    Math.floor((Number.parseInt(hex.slice(0, 12), 16) % 86_400) / 60);

  test('get no minute of the day: they spread over it, and in each store otherwise', () => {
    // Names of one minute, if the second were a public hash.
    const names = Array.from({ length: 150_000 }, (_, n) => `g${n}.com`).filter((name) =>
      ['', 'second '].some((salt) => toMinute(publicHash(salt + name)) === 23 * 60 + 30),
    );
    expect(names.length).toBeGreaterThan(150);
    const times = STORES.map((key) => names.map((name) => lookTimeMs(key, name, 0)));
    for (const hours of times.map((all) => all.map((ms) => Math.floor(ms / 3_600_000)))) {
      expect(new Set(hours).size).toBeGreaterThan(20);
      const largest = Math.max(
        ...[...Map.groupBy(hours, (hour) => hour).values()].map(({ length }) => length),
      );
      expect(largest).toBeLessThan(names.length / 4);
    }
    expect(times[0]).not.toEqual(times[1]);
  });

  test('get no more places than other names', async () => {
    const sellers = makeCandidates(1_000, (n) => `shop-${n}.com`);
    // The lowest public hashes of many.
    const ground = Array.from({ length: 100_000 }, (_, n) => `g${n}.com`)
      .toSorted((a, b) => (publicHash(`place ${a}`) < publicHash(`place ${b}`) ? -1 : 1))
      .slice(0, 250)
      .map((host): Candidate => ({ host, domain: host }));
    for (const key of STORES) {
      const limits = { maxOrigins: 500, excluded: NO_DOMAINS, keyedHash: key };
      const { hosts } = await chooseOrigins([...sellers, ...ground], limits);
      const places = ground.filter(({ host }) => hosts.has(host)).length;
      // Their share is 100 of 500.
      expect(places).toBeGreaterThan(60);
      expect(places).toBeLessThan(140);
    }
  });
});

describe('a line of CENSUS_EXCLUDE', () => {
  test.each([
    ['bücher.com', 'xn--bcher-kva.com'],
    ['https://api.url.com/path', 'api.url.com'],
    ['http://api.url.com', 'api.url.com'],
    ['api.port.com:443', 'api.port.com'],
    ['API.Case.com.', 'api.case.com'],
    ['10.0.0.1', '10.0.0.1'],
  ])('names the host that a URL would name: %s', (line, name) => {
    expect(parseExclusions(line, DEFAULT_POLICY)).toEqual({ names: new Set([name]), faults: [] });
  });

  test.each(['*.star.com', 'a.com b.com', 'user@a.com', 'a..com'])('is refused: %s', (line) => {
    const { names, faults } = parseExclusions(`ok.com\n${line}`, DEFAULT_POLICY);
    expect(names).toEqual(new Set(['ok.com']));
    expect(faults).toEqual([`line 2 names no host: ${JSON.stringify(line)}`]);
  });
});

describe('a file of entries', () => {
  async function writeListFile(text: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'census-list-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'list.txt');
    await writeFile(path, text);
    return path;
  }

  test('has one entry in each line, and comments', async () => {
    const path = await writeListFile(
      '# who wrote to us\r\nShop.COM.  # by mail\n\n  b.shop.com\n#\n',
    );
    expect(await readLines(path)).toEqual(['Shop.COM.', 'b.shop.com']);
    expect((await readExcludeFile(path, DEFAULT_POLICY)).names).toEqual(
      new Set(['shop.com', 'b.shop.com']),
    );
  });

  test('leaves no host out if no file is set', async () => {
    expect((await readExcludeFile(null, DEFAULT_POLICY)).names).toEqual(NO_DOMAINS);
  });

  test('is an error if it cannot be read', async () => {
    await expect(readExcludeFile('/nowhere/list.txt', DEFAULT_POLICY)).rejects.toThrow('ENOENT');
  });
});
