/** `npm run census` runs as a process of its own. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { startInstance } from '../../hosts/instance-process.ts';
import { bazaarItem, resourceRow, trpc } from '../../scanner/indexes/recorded-answers.ts';
import { startStandIn } from '../../scanner/indexes/stand-in.ts';

const COMMAND = fileURLToPath(
  new URL('../../../src/service/start/census-command.ts', import.meta.url),
);
const USAGE = /^npm run census -- --dry-run \[--json\] prints .*\n$/;

type Settings = Readonly<Record<string, string>>;

async function census(args: readonly string[], settings: Settings = {}) {
  const env = {
    PATH: process.env['PATH'],
    X402SCAN_URL: '',
    BAZAAR_URL: '',
    ECOSYSTEM_URL: '',
    ...settings,
  };
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    // The process would read the .env of the repository if it ran there.
    execFile(process.execPath, [COMMAND, ...args], { env, cwd: tmpdir() }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'census-command-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const SITE_SETTINGS = {
  CONTACT_EMAIL: 'census@scanner.example',
  SITE_URL: 'https://scanner.example.com',
};

describe('the census command ends with exit code 2', () => {
  test.each([
    [[]],
    [['--dry-run', '--once']],
    [['--dry-run', '--limit', '3']],
    [['--once', '--limit', '3', '--json']],
    [['--twice']],
    [['today']],
  ])('and prints the usage if its arguments are %j', async (args) => {
    const { code, out, err } = await census(args, { ...SITE_SETTINGS, CENSUS_FILE: COMMAND });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(USAGE);
  });

  test.each([[['--once']], [['--once', '--limit', '0']], [['--once', '--limit', 'all']]])(
    'if --once has no valid number of origins: %j',
    async (args) => {
      const { code, err } = await census(args, { ...SITE_SETTINGS, CENSUS_FILE: COMMAND });
      expect(code).toBe(2);
      expect(err).toBe('--once needs --limit N, the number of origins: from 1 to 999999.\n');
    },
  );

  test('if no index is set', async () => {
    const { code, err } = await census(['--dry-run'], SITE_SETTINGS);
    expect(code).toBe(2);
    expect(err).toBe('No index to ask: set CENSUS=bazaar,x402scan, or CENSUS_FILE.\n');
  });

  test('if a setting is refused, and prints one line', async () => {
    const { code, err } = await census(['--dry-run'], { CENSUS_FILE: COMMAND });
    expect(code).toBe(2);
    expect(err).toMatch(/^CONTACT_EMAIL is not set: .*\n$/);
  });

  test('if no index answers', async () => {
    const index = await startStandIn(() => ({ status: 500, json: {} }));
    onTestFinished(() => index.close());
    const { code, err } = await census(['--dry-run'], {
      ...SITE_SETTINGS,
      CENSUS: 'bazaar',
      BAZAAR_URL: index.url,
    });
    expect(code).toBe(2);
    expect(err).toBe('No index answered: see above.\n');
  });

  test('while the service uses the embedded store', async () => {
    const folder = await newFolder();
    const path = join(folder, 'scanner.db');
    const store = openSqlite(path);
    const listFile = join(folder, 'listed.txt');
    await writeFile(listFile, 'shop.example.com\n');
    const { code, out, err } = await census(['--once', '--limit', '1'], {
      ...{ ...SITE_SETTINGS, CENSUS_FILE: listFile, STORE_URL: `sqlite:${path}` },
    });
    await store.close();
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^the store .*scanner\.db is in use by another process: stop that one/);
    expect(err.trim()).not.toContain('\n');
  });
});

describe('--dry-run', () => {
  async function startListed() {
    const folder = await newFolder();
    const farm = Array.from({ length: 30 }, (_, n) => `https://h${n}.farm.com/paid`);
    const urls = [...farm, 'https://shop.com/a', 'https://shop.com/b', 'https://shop.com/c'];
    const leftOutUrls = ['http://plain.com/a', 'https://10.0.0.1/a', 'https://unwanted.com/a'];
    const index = await startStandIn(({ pathname }) => {
      if (pathname.endsWith('/discovery/resources')) {
        const items = [...urls, ...leftOutUrls].map((resource) => ({
          ...bazaarItem(null),
          resource,
        }));
        return { json: { items, pagination: { total: items.length } } };
      }
      const items = [resourceRow('https://shop.com/a'), resourceRow('https://other.com/a')];
      return { json: trpc({ items, total_count: items.length, page: 0 }) };
    });
    onTestFinished(() => index.close());
    const exclude = join(folder, 'exclude.txt');
    await writeFile(exclude, 'unwanted.com\n');
    const store = join(folder, 'data', 'scanner.db');
    return {
      ...{ index, store },
      settings: {
        ...{
          ...SITE_SETTINGS,
          CENSUS: 'bazaar,x402scan',
          BAZAAR_URL: index.url,
          X402SCAN_URL: index.url,
        },
        ...{ CENSUS_EXCLUDE: exclude, CENSUS_MAX: '22', STORE_URL: `sqlite:${store}` },
      },
    };
  }

  test('with --json prints what a day would do, and opens no store', async () => {
    const { settings, store, index } = await startListed();
    const { code, out, err } = await census(['--dry-run', '--json'], settings);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      sources: [
        { source: 'bazaar', origins: 32, detail: null },
        { source: 'x402scan', origins: 2, detail: null },
      ],
      origins: 33,
      leftOut: { refusedListings: 2, excluded: 1, domain: 10, max: 0 },
      asked: { origins: 22, resources: 23, postUndeclared: 0, scansADay: 3, requestsADay: 92 },
    });
    expect(index.requestedPaths).toHaveLength(2);
    expect(existsSync(store)).toBe(false);
  });

  test('without --json prints the same in sentences', async () => {
    const { settings } = await startListed();
    const { out } = await census(['--dry-run'], settings);
    expect(out.split('\n').slice(0, 5)).toEqual([
      'bazaar lists 32 origins',
      'x402scan lists 2 origins',
      '33 different origins',
      'left out: 1 by CENSUS_EXCLUDE, 10 of domains with more than 20 origins, 0 beyond CENSUS_MAX',
      'left out: 2 listings that no scan may ask, such as http or private addresses',
    ]);
  });
});

test('--once gives an origin its word, and the service shows this word afterwards', async () => {
  const folder = await newFolder();
  const seller = await startCraftedSeller();
  onTestFinished(() => seller[Symbol.asyncDispose]());
  const { host } = new URL(seller.url);
  const listFile = join(folder, 'listed.txt');
  await writeFile(listFile, `# ours\n${seller.url}\n`);
  const settings = {
    STORE_URL: `sqlite:${join(folder, 'scanner.db')}`,
    SCAN_ALLOW_HOSTS: host,
  };
  const allSettings = { ...SITE_SETTINGS, CENSUS_FILE: listFile, ...settings };
  const { code, out, err } = await census(['--once', '--limit', '5'], allSettings);
  expect({ code, out, err }).toEqual({ code: 0, out: '1 origins: 1 payable\n', err: '' });
  expect(
    seller.requests.some(({ headers }) => String(headers['user-agent']).includes('/about-census')),
  ).toBe(true);

  const secondRun = await census(['--once', '--limit', '5'], allSettings);
  expect(secondRun.out).toBe('0 origins: each has its word of today\n');

  const requestCount = seller.requests.length;
  const service = await startInstance(settings);
  onTestFinished(() => service.kill());
  const { json } = await service.get(`/v1/project?host=${encodeURIComponent(host)}`);
  expect(json).toMatchObject({
    host,
    availability: { today: 'payable', payableDays: 1, checkedDays: 1 },
  });
  // The census of the service is off by default, so it sent no request.
  expect(seller.requests).toHaveLength(requestCount);
});
