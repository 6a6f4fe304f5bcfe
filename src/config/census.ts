/** Reads the settings of the census. It is off by default, because it sends requests to hosts that did not ask for it. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { OriginRefused } from '../guard/errors.ts';
import { parseOrigin } from '../guard/origin.ts';
import { SettingError, type Settings, toSettingError } from './environment.ts';
import { splitList } from './parse-values.ts';

/** A URL is null if its index is switched off. */
type IndexUrls = { readonly bazaarUrl: string | null; readonly x402scanUrl: string | null };

export type CensusIndex = { readonly name: 'bazaar' | 'x402scan'; readonly url: string };

export type CensusConfig = {
  readonly indexes: readonly CensusIndex[];
  /** Path of a readable file of origins and URLs; null if CENSUS_FILE is not set. */
  readonly file: string | null;
  /** Path of a readable file of hosts and registrable domains that the census leaves out; null if not set. */
  readonly exclude: string | null;
  readonly maxOrigins: number;
  readonly contactEmail: string;
};

const EMAIL_PATTERN = /^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}\.[^\s@<>".]{2,63}$/;

/** Returns null if the census is off. Throws SettingError. */
export function readCensusConfig(
  settings: Settings,
  siteUrl: string,
  ecosystem: IndexUrls,
): CensusConfig | null {
  const { CENSUS, CENSUS_FILE, CENSUS_EXCLUDE, CENSUS_MAX, CONTACT_EMAIL } = settings;
  if (CENSUS === undefined && CENSUS_FILE === undefined) return null;
  const sources = {
    indexes: CENSUS === undefined ? [] : parseIndexes(CENSUS, ecosystem),
    file: requireReadable('CENSUS_FILE', CENSUS_FILE),
    exclude: requireReadable('CENSUS_EXCLUDE', CENSUS_EXCLUDE),
  };
  if (settings.API_REVISION === '0.1.0') {
    const accepted = '0.3.0 for a census, or leave out CENSUS and CENSUS_FILE';
    throw new SettingError('API_REVISION', '0.1.0', accepted);
  }
  if (CONTACT_EMAIL === undefined) {
    const accepted =
      'give an address such as census@scanner.example, so that the owners of the requested hosts can write to you';
    throw new SettingError('CONTACT_EMAIL', undefined, accepted);
  }
  if (!EMAIL_PATTERN.test(CONTACT_EMAIL)) throw toSettingError('CONTACT_EMAIL', CONTACT_EMAIL);
  // With SCAN_ALLOW_HOSTS the census requests private hosts, which is a test.
  const isTest = settings.SCAN_ALLOW_HOSTS !== undefined;
  if (!isTest && !isPublic(siteUrl)) {
    const accepted =
      'the public https address of this site, because the User-Agent of the census names its page /about-census';
    throw new SettingError('SITE_URL', siteUrl, accepted);
  }
  return { ...sources, maxOrigins: CENSUS_MAX, contactEmail: CONTACT_EMAIL };
}

function parseIndexes(list: string, ecosystem: IndexUrls): readonly CensusIndex[] {
  const names = [...new Set(splitList(list))];
  if (names.length === 0) throw toSettingError('CENSUS', list);
  return names.map((name) => {
    if (name !== 'bazaar' && name !== 'x402scan') throw toSettingError('CENSUS', list);
    const [url, setting] =
      name === 'bazaar'
        ? [ecosystem.bazaarUrl, 'BAZAAR_URL']
        : [ecosystem.x402scanUrl, 'X402SCAN_URL'];
    if (url !== null) return { name, url };
    throw new SettingError(
      'CENSUS',
      list,
      `only indexes that are switched on: ${setting} is empty`,
    );
  });
}

/** True also for hosts under `.example` (RFC 2606), which are for documentation, so nobody can reach them. */
function isPublic(siteUrl: string): boolean {
  if (/^https:\/\/[^/:]+\.example$/.test(siteUrl)) return true;
  try {
    return parseOrigin(siteUrl).scheme === 'https';
  } catch (error) {
    if (error instanceof OriginRefused) return false;
    throw error;
  }
}

/** Returns the path; null if it is not set. Throws SettingError if the file cannot be read. */
function requireReadable(
  name: 'CENSUS_FILE' | 'CENSUS_EXCLUDE',
  path: string | undefined,
): string | null {
  if (path === undefined) return null;
  try {
    readFileSync(path, 'utf8');
    return path;
  } catch {
    throw toSettingError(name, path);
  }
}

/** Reads a file with one entry in each line; `#` begins a comment. Rejects if the file cannot be read. */
export async function readLines(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((line) => line !== '');
}

/** Reads the entries of the file of CENSUS_EXCLUDE, in lower case; an empty set if `path` is null. */
export async function readExcluded(path: string | null): Promise<ReadonlySet<string>> {
  const lines = path === null ? [] : await readLines(path);
  return new Set(lines.map((line) => line.toLowerCase().replace(/\.$/, '')));
}
