/** The census chooses the origins to request among all listed origins. */
import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Candidate, chooseOrigins } from '../../src/census/choose.ts';
import { readExcluded, readLines } from '../../src/config/census.ts';

const NO_DOMAINS: ReadonlySet<string> = new Set();

function makeCandidates(count: number, domainOf: (n: number) => string): readonly Candidate[] {
  return Array.from({ length: count }, (_, n) => ({
    host: `h${n}.${domainOf(n)}`,
    domain: domainOf(n),
  }));
}

const choose = (all: readonly Candidate[], maxOrigins = 1_000, excluded = NO_DOMAINS) =>
  chooseOrigins(all, { maxOrigins, excluded });

const byHash = (all: readonly Candidate[]) =>
  all.map(({ host }) => host).toSorted((a, b) => (hash('sha256', a) < hash('sha256', b) ? -1 : 1));

describe('of one registrable domain', () => {
  test.each([
    [19, 19, 0],
    [20, 20, 0],
    [21, 20, 1],
    [500, 20, 480],
  ])('%d origins: %d are chosen, %d are left out', (count, chosenCount, leftOutCount) => {
    const { hosts, leftOut } = choose(makeCandidates(count, () => 'farm.com'));
    expect(hosts.size).toBe(chosenCount);
    expect(leftOut).toEqual({ excluded: 0, domain: leftOutCount, max: 0 });
  });

  test('the hosts with the lowest hash are chosen, in any order of the list', () => {
    const all = makeCandidates(100, () => 'farm.com');
    const expected = new Set(byHash(all).slice(0, 20));
    expect(choose(all).hosts).toEqual(expected);
    expect(choose(all.toReversed()).hosts).toEqual(expected);
    expect(choose(all.toSorted((a, b) => a.host.localeCompare(b.host))).hosts).toEqual(expected);
  });

  test('the host with the next hash is chosen if the host with the lowest hash is not listed any more', () => {
    const all = makeCandidates(100, () => 'farm.com');
    const [lowest = '', ...others] = byHash(all);
    const remaining = all.filter(({ host }) => host !== lowest);
    expect(choose(remaining).hosts).toEqual(new Set(others.slice(0, 20)));
  });
});

test.each([
  [29, 29, 1],
  [30, 30, 0],
  [31, 30, 0],
])(
  'with room for %d of 30 origins, %d are chosen and %d left out',
  (max, chosenCount, leftOutCount) => {
    const all = makeCandidates(30, (n) => `shop-${n}.com`);
    const { hosts, leftOut } = choose(all, max);
    expect(hosts).toEqual(new Set(byHash(all).slice(0, chosenCount)));
    expect(leftOut.max).toBe(leftOutCount);
  },
);

test('hosts beyond 20 of a domain are left out before CENSUS_MAX applies', () => {
  const all = [
    ...makeCandidates(60, () => 'farm.com'),
    ...makeCandidates(10, (n) => `shop-${n}.com`),
  ];
  const { hosts, leftOut } = choose(all, 25);
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
  ])('%s', (_, entry, keptHosts) => {
    const { hosts, leftOut } = choose(all, 10, new Set([entry]));
    expect([...hosts].toSorted()).toEqual(keptHosts.toSorted());
    expect(leftOut.excluded).toBe(all.length - keptHosts.length);
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
    expect(await readExcluded(path)).toEqual(new Set(['shop.com', 'b.shop.com']));
  });

  test('leaves no host out if no file is set', async () => {
    expect(await readExcluded(null)).toEqual(NO_DOMAINS);
  });

  test('is an error if it cannot be read', async () => {
    await expect(readExcluded('/nowhere/list.txt')).rejects.toThrow('ENOENT');
  });
});
