/** Reads the settings of the census. It is off by default, because it requests hosts that did not ask for it. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { SettingError } from '../../scanner/environment/read-sources.ts';
import { OriginRefused, type RefusalReason } from '../../scanner/guard/failures.ts';
import { type OriginPolicy, parseOrigin } from '../../scanner/guard/origin.ts';
import { type Settings, splitList, toSettingError } from './environment.ts';

/** A URL is null if its index is switched off. */
type IndexUrls = { readonly bazaarUrl: string | null; readonly x402scanUrl: string | null };

type CensusIndex = { readonly name: 'bazaar' | 'x402scan'; readonly url: string };

export type CensusConfig = {
  readonly indexes: readonly CensusIndex[];
  /** Path of a readable file of origins and URLs; null if CENSUS_FILE is not set. */
  readonly filePath: string | null;
  /** Path of a file of hosts and registrable domains that the census leaves out; null if not set. */
  readonly excludePath: string | null;
  readonly maxOrigins: number;
  /**
   * `declared`: a look sends a POST only if the seller's documents sell the operation, or a POST there was answered with
   * a challenge. `listed`: it also sends what an index lists by POST.
   */
  readonly post: 'declared' | 'listed';
  readonly contactEmail: string;
};

const EMAIL_PATTERN = /^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}\.[^\s@<>".]{2,63}$/;

/** Returns null if the census is off. Throws SettingError. */
export function readCensusConfig(
  settings: Settings,
  siteUrl: string,
  indexUrls: IndexUrls,
  policy: OriginPolicy,
): CensusConfig | null {
  const { CENSUS, CENSUS_FILE, CENSUS_EXCLUDE, CENSUS_MAX, CENSUS_POST, CONTACT_EMAIL } = settings;
  if (CENSUS === undefined && CENSUS_FILE === undefined) return null;
  const sources = {
    indexes: CENSUS === undefined ? [] : parseIndexes(CENSUS, indexUrls),
    filePath: requireCensusFile(CENSUS_FILE),
    excludePath: requireExcludeFile(CENSUS_EXCLUDE, policy),
  };
  // This revision has no page /about-census, which the User-Agent of the census names.
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
  if (!isTest && !isPublicSite(siteUrl)) {
    const accepted =
      'the public https address of this site, because the User-Agent of the census names its page /about-census';
    throw new SettingError('SITE_URL', siteUrl, accepted);
  }
  return { ...sources, maxOrigins: CENSUS_MAX, post: CENSUS_POST, contactEmail: CONTACT_EMAIL };
}

function parseIndexes(list: string, indexUrls: IndexUrls): readonly CensusIndex[] {
  const names = [...new Set(splitList(list))];
  if (names.length === 0) throw toSettingError('CENSUS', list);
  return names.map((name) => {
    if (name !== 'bazaar' && name !== 'x402scan') throw toSettingError('CENSUS', list);
    const [url, setting] =
      name === 'bazaar'
        ? [indexUrls.bazaarUrl, 'BAZAAR_URL']
        : [indexUrls.x402scanUrl, 'X402SCAN_URL'];
    if (url !== null) return { name, url };
    throw new SettingError(
      'CENSUS',
      list,
      `only indexes that are switched on: ${setting} is empty`,
    );
  });
}

/** True also for hosts under `.example` (RFC 2606), which are for documentation, so nobody can reach them. */
function isPublicSite(siteUrl: string): boolean {
  if (/^https:\/\/[^/:]+\.example$/.test(siteUrl)) return true;
  try {
    return parseOrigin(siteUrl).scheme === 'https';
  } catch (error) {
    if (error instanceof OriginRefused) return false;
    throw error;
  }
}

/** Returns the path of CENSUS_FILE; null if it is not set. Throws SettingError if the file cannot be read. */
function requireCensusFile(path: string | undefined): string | null {
  if (path === undefined) return null;
  readText('CENSUS_FILE', path);
  return path;
}

function readText(name: 'CENSUS_FILE' | 'CENSUS_EXCLUDE', path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw toSettingError(name, path);
  }
}

/**
 * Returns the path of CENSUS_EXCLUDE; null if it is not set. Throws SettingError also for a line that names no host:
 * otherwise the census would send requests to the host that the operator meant, and nobody would notice.
 */
function requireExcludeFile(path: string | undefined, policy: OriginPolicy): string | null {
  if (path === undefined) return null;
  const [fault] = parseExclusions(readText('CENSUS_EXCLUDE', path), policy).faults;
  if (fault === undefined) return path;
  const accepted = `a file with one host or registrable domain in each line: ${fault}`;
  throw new SettingError('CENSUS_EXCLUDE', path, accepted);
}

/** Reads a file with one entry in each line; `#` begins a comment. Rejects if the file cannot be read. */
export async function readLines(path: string): Promise<readonly string[]> {
  return listEntries(await readFile(path, 'utf8')).map(({ entry }) => entry);
}

function listEntries(text: string) {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line, index) => ({ number: index + 1, entry: line.replace(/#.*$/, '').trim() }))
    .filter(({ entry }) => entry !== '');
}

export type Exclusions = {
  /** Canonical hosts and registrable domains. */
  readonly names: ReadonlySet<string>;
  /** One text for each line that names no host. */
  readonly faults: readonly string[];
};

export function parseExclusions(text: string, policy: OriginPolicy): Exclusions {
  const names = new Set<string>();
  const faults: string[] = [];
  for (const { number, entry } of listEntries(text)) {
    const name = findHostName(entry, policy);
    if (name === null) faults.push(`line ${number} names no host: ${JSON.stringify(entry)}`);
    else names.add(name);
  }
  return { names, faults };
}

/** Reasons for which a scan refuses an entry that nevertheless names a host. */
const REFUSALS_OF_NAMED_HOSTS: ReadonlySet<RefusalReason> = new Set([
  'port',
  'special_use_name',
  'single_label',
  'blocked_ip',
]);

/** Returns the canonical host of an entry, which may be an http URL; null if the entry names no host. */
function findHostName(entry: string, policy: OriginPolicy): string | null {
  const text = entry.replace(/^http:\/\//i, 'https://');
  try {
    return parseOrigin(text, policy).host;
  } catch (error) {
    if (!(error instanceof OriginRefused)) throw error;
    if (!REFUSALS_OF_NAMED_HOSTS.has(error.reason)) return null;
    const url = new URL(/^https:/i.test(text) ? text : `https://${text}`);
    return url.host.replace(/\.$/, '');
  }
}

/** Reads the file of CENSUS_EXCLUDE; excludes nobody if `path` is null. Rejects if the file cannot be read. */
export async function readExcludeFile(
  path: string | null,
  policy: OriginPolicy,
): Promise<Exclusions> {
  return parseExclusions(path === null ? '' : await readFile(path, 'utf8'), policy);
}
