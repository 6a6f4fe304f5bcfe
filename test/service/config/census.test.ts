/** The census is off by default, and each refused setting gives one line that says why. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Environment, SettingError } from '../../../src/scanner/environment/read-sources.ts';
import { loadConfig } from '../../../src/service/config/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'census-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ORIGINS_FILE = join(folder, 'origins.txt');
writeFileSync(ORIGINS_FILE, 'shop.example.com\n');

function writeExclusions(text: string): string {
  const path = join(mkdtempSync(join(folder, 'exclude-')), 'list.txt');
  writeFileSync(path, text);
  return path;
}

const CENSUS_ON = {
  CENSUS: 'bazaar,x402scan',
  CONTACT_EMAIL: 'census@scanner.example',
  SITE_URL: 'https://scanner.example.com',
};

function getRefusal(environment: Environment): string {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof SettingError) return error.message;
    throw error;
  }
  throw new Error('the settings were accepted');
}

describe('a census', () => {
  test.each([{}, { CONTACT_EMAIL: 'a@b.example.com' }, { CENSUS_EXCLUDE: '/nowhere' }])(
    'is off without CENSUS and CENSUS_FILE: %j',
    (environment) => {
      expect(loadConfig(environment).census).toBeNull();
    },
  );

  test('reads the indexes that CENSUS names', () => {
    expect(loadConfig(CENSUS_ON).census).toEqual({
      indexes: [
        { name: 'bazaar', url: 'https://api.cdp.coinbase.com' },
        { name: 'x402scan', url: 'https://www.x402scan.com' },
      ],
      ...{ filePath: null, excludePath: null, maxOrigins: 10_000, post: 'declared' },
      contactEmail: 'census@scanner.example',
    });
  });

  test.each(['x402scan', ' x402scan ,', 'x402scan,x402scan'])(
    'with CENSUS=%j reads x402scan once',
    (CENSUS) => {
      const { indexes } = loadConfig({ ...CENSUS_ON, CENSUS }).census ?? {};
      expect(indexes?.map(({ name }) => name)).toEqual(['x402scan']);
    },
  );

  test('can read a file of origins and a file of excluded hosts, without any index', () => {
    const { CENSUS: _, ...withoutIndexes } = CENSUS_ON;
    const files = { CENSUS_FILE: ORIGINS_FILE, CENSUS_EXCLUDE: ORIGINS_FILE, CENSUS_MAX: '7' };
    expect(loadConfig({ ...withoutIndexes, ...files }).census).toMatchObject({
      ...{ indexes: [], filePath: ORIGINS_FILE, excludePath: ORIGINS_FILE, maxOrigins: 7 },
    });
  });

  test('accepts a SITE_URL under .example as public, and refuses an internal one', () => {
    const site = { ...CENSUS_ON, SITE_URL: 'https://scanner.example' };
    expect(loadConfig(site).census).not.toBeNull();
    const internal = { ...CENSUS_ON, SITE_URL: 'https://scanner.internal' };
    expect(() => loadConfig(internal)).toThrow('SITE_URL');
  });

  test('reports an unknown index before missing settings', () => {
    expect(() => loadConfig({ CENSUS: 'foo' })).toThrow(/^CENSUS="?foo/);
  });

  test('accepts a loopback SITE_URL if SCAN_ALLOW_HOSTS is set', () => {
    const local = {
      ...CENSUS_ON,
      SITE_URL: 'http://127.0.0.1:4021',
      SCAN_ALLOW_HOSTS: '127.0.0.1:80',
    };
    expect(loadConfig(local).census).not.toBeNull();
  });
});

describe('the scanner refuses to start, with one line that says why', () => {
  const { CONTACT_EMAIL: _, ...withoutEmail } = CENSUS_ON;
  test.each<readonly [string, Environment, string]>([
    [
      'without CONTACT_EMAIL',
      withoutEmail,
      'CONTACT_EMAIL is not set: give an address such as census@scanner.example, so that the owners of the requested hosts can write to you.',
    ],
    [
      'with a CONTACT_EMAIL that is not an address',
      { ...CENSUS_ON, CONTACT_EMAIL: 'census' },
      'CONTACT_EMAIL=census is not accepted: give an e-mail address, such as census@scanner.example.',
    ],
    [
      'with a SITE_URL that is not public',
      { ...CENSUS_ON, SITE_URL: 'http://scanner.example.com' },
      'SITE_URL=http://scanner.example.com is not accepted: give the public https address of this site, because the User-Agent of the census names its page /about-census.',
    ],
    [
      'with an unknown index',
      { ...CENSUS_ON, CENSUS: 'bazaar,other' },
      'CENSUS=bazaar,other is not accepted: give a list of indexes, such as bazaar,x402scan.',
    ],
    [
      'with an empty list of indexes',
      { ...CENSUS_ON, CENSUS: ',' },
      'CENSUS=, is not accepted: give a list of indexes, such as bazaar,x402scan.',
    ],
    [
      'with the Bazaar switched off',
      { ...CENSUS_ON, BAZAAR_URL: '' },
      'CENSUS=bazaar,x402scan is not accepted: give only indexes that are switched on: BAZAAR_URL is empty.',
    ],
    [
      'with x402scan switched off',
      { ...CENSUS_ON, X402SCAN_URL: '' },
      'CENSUS=bazaar,x402scan is not accepted: give only indexes that are switched on: X402SCAN_URL is empty.',
    ],
    [
      'with a CENSUS_FILE that does not exist',
      { ...CENSUS_ON, CENSUS_FILE: '/nowhere/list.txt' },
      'CENSUS_FILE=/nowhere/list.txt is not accepted: give a readable file with an origin, or the URL of a paid GET, in each line.',
    ],
    [
      'with a CENSUS_EXCLUDE that does not exist',
      { ...CENSUS_ON, CENSUS_EXCLUDE: '/nowhere/list.txt' },
      'CENSUS_EXCLUDE=/nowhere/list.txt is not accepted: give a readable file with a host, or a registrable domain, in each line.',
    ],
    ...['*.star.com', 'a.com b.com', 'user@a.com'].map(
      (entry): readonly [string, Environment, string] => {
        const path = writeExclusions(`# by mail\nok.com\n${entry}\n`);
        return [
          `with a line of CENSUS_EXCLUDE that names no host: ${entry}`,
          { ...CENSUS_ON, CENSUS_EXCLUDE: path },
          `CENSUS_EXCLUDE=${path} is not accepted: give a file with one host or registrable domain in each line: line 3 names no host: ${entry}.`,
        ];
      },
    ),
    [
      'with API revision 0.1.0',
      { ...CENSUS_ON, API_REVISION: '0.1.0' },
      'API_REVISION=0.1.0 is not accepted: give 0.3.0 for a census, or leave out CENSUS and CENSUS_FILE.',
    ],
  ])('%s', (_title, environment, line) => {
    const message = getRefusal(environment);
    expect(message).not.toContain('\n');
    expect(message.replaceAll('"', '')).toBe(line);
  });

  test.each([
    'http://127.0.0.1:4021',
    'https://localhost',
    'https://10.0.0.1',
    'https://scanner.test',
  ])('with SITE_URL=%s', (SITE_URL) => {
    expect(getRefusal({ ...CENSUS_ON, SITE_URL })).toMatch(/^SITE_URL=.* the public https address/);
  });

  test.each(['0', '-1', '1.5', 'many'])('with CENSUS_MAX=%s', (CENSUS_MAX) => {
    expect(getRefusal({ ...CENSUS_ON, CENSUS_MAX })).toMatch(/^CENSUS_MAX=/);
  });
});
