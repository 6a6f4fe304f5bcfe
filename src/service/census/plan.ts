/** Chooses which listed origins the census asks, and plans the looks at each: its second of the day, its weekly scan. */
import { createHmac } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CensusOrigin } from '../store/census.ts';
import { SECONDS_PER_DAY } from '../turns/in-turn.ts';
import { toListing } from './resources.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
export const DAY_MS = 24 * HOUR_MS;
const WEEK_DAYS = 7;
/** An origin is asked until no import has listed it for this many days. */
export const LISTED_FOR_DAYS = 30;

/** Returns a hash in hexadecimal. Only who knows the key can compute it. */
export type KeyedHash = (text: string) => string;

export function createKeyedHash(secret: string): KeyedHash {
  return (text) => createHmac('sha256', secret).update(text).digest('hex');
}

function toNumber(hash: string): number {
  return Number.parseInt(hash.slice(0, 12), 16);
}

/** A scan and its waits take less. All its requests are then sent on one UTC day. */
const MAX_SCAN_S = 120;

/** The second of a day at which the census looks at a host. Nobody can choose a name that gets a wanted second. */
export function lookTimeMs(keyedHash: KeyedHash, host: string, day: number): number {
  const second = toNumber(keyedHash(`second ${host}`)) % (SECONDS_PER_DAY - MAX_SCAN_S);
  return day * DAY_MS + second * SECOND_MS;
}

/** False shortly before midnight. After midnight a scan would send requests beside the look of that day. */
export function canScanEndToday(nowMs: number): boolean {
  return (nowMs % DAY_MS) + MAX_SCAN_S * SECOND_MS <= DAY_MS;
}

type ScanPlan = Pick<CensusOrigin, 'host' | 'firstDay' | 'scannedDay' | 'listing'>;

/** True once a week, and on the days after it until a scan succeeds. */
export function isScanDue(
  keyedHash: KeyedHash,
  { host, firstDay, scannedDay, listing }: ScanPlan,
  today: number,
): boolean {
  // The census knows no resource that it may ask until the first scan finds one.
  const isListedByGet = toListing(listing).resources.some(({ method }) => method === 'GET');
  if (scannedDay === null && !isListedByGet) return true;
  return isWeekPassed(keyedHash, { host, firstDay, scannedDay }, today);
}

/** True a week after the last scan; before the first scan, once the weekday of the host has come. */
export function isWeekPassed(
  keyedHash: KeyedHash,
  { host, firstDay, scannedDay }: Omit<ScanPlan, 'listing'>,
  today: number,
): boolean {
  if (scannedDay !== null) return today >= scannedDay + WEEK_DAYS;
  const weekday = toNumber(keyedHash(`weekday ${host}`)) % WEEK_DAYS;
  return today >= firstDay + ((weekday - (firstDay % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS);
}

const MAX_WORD_DELAY_MS = 3 * HOUR_MS;
const AFTER_MIDNIGHT_MS = 60 * SECOND_MS;

/** Returns the time at which a silent host gets its word at the latest: soon after midnight, for the statistics. */
export function findWordDeadlineMs(nowMs: number, day: number): number {
  return Math.min(nowMs + MAX_WORD_DELAY_MS, (day + 1) * DAY_MS + AFTER_MIDNIGHT_MS);
}

export type Candidate = {
  readonly host: string;
  /** Registrable domain; the /24 or /48 of a literal address. */
  readonly domain: string;
  /** True if the census asks the origin already. */
  readonly isAsked?: boolean;
};

type ChoiceOptions = {
  readonly maxOrigins: number;
  /** Hosts and registrable domains that the operator has excluded. */
  readonly excluded: ReadonlySet<string>;
  /** Hosts whose owners opted out. They keep no place. */
  readonly optedOut?: ReadonlySet<string>;
  /** Keyed with a secret of the store, so that nobody can choose a name that gets a place. */
  readonly keyedHash: KeyedHash;
};

const ORIGINS_PER_DOMAIN = 20;
const HOSTS_PER_TURN = 1_000;

type Ranked = Candidate & {
  /** Number of hosts of the domain that go before this host. */
  readonly rank: number;
  readonly key: string;
};

/**
 * An origin that the census asks keeps its place while it is listed. New places go to one host of each domain before a
 * second host of any domain.
 */
export async function chooseOrigins(candidates: readonly Candidate[], options: ChoiceOptions) {
  const { maxOrigins, excluded, optedOut = new Set(), keyedHash } = options;
  const permitted = candidates.filter((candidate) => !isExcluded(candidate, excluded));
  const remaining = permitted.filter(({ host }) => !optedOut.has(host));
  const keyed: (Candidate & { readonly key: string })[] = [];
  for (const candidate of remaining) {
    keyed.push({ ...candidate, key: keyedHash(`place ${candidate.host}`) });
    // This process has to serve other requests.
    if (keyed.length % HOSTS_PER_TURN === 0) await nextTurn();
  }
  const byDomain = [...Map.groupBy(keyed, ({ domain }) => domain).values()];
  const capped = byDomain.flatMap((hosts): readonly Ranked[] =>
    hosts
      .sort(askedFirst)
      .slice(0, ORIGINS_PER_DOMAIN)
      .map((candidate, rank) => ({ ...candidate, rank })),
  );
  await nextTurn();
  const chosen = capped.sort((a, b) => byAsked(a, b) || a.rank - b.rank || byKey(a, b));
  const hosts = new Set(chosen.slice(0, maxOrigins).map(({ host }) => host));
  return {
    hosts,
    /** Numbers of origins. `domain`: more than one domain may have. `max`: more than `CENSUS_MAX`. */
    leftOut: {
      excluded: candidates.length - permitted.length,
      domain: remaining.length - capped.length,
      max: capped.length - hosts.size,
    },
  };
}

function askedFirst(a: Candidate & { key: string }, b: Candidate & { key: string }): number {
  return byAsked(a, b) || byKey(a, b);
}

function byAsked({ isAsked: a = false }: Candidate, { isAsked: b = false }: Candidate): number {
  return Number(b) - Number(a);
}

function byKey({ key: a }: { readonly key: string }, { key: b }: { readonly key: string }): number {
  return a < b ? -1 : 1;
}

export function isExcluded(
  { host, domain }: Pick<Candidate, 'host' | 'domain'>,
  excluded: ReadonlySet<string>,
): boolean {
  const hostname = host.replace(/:\d+$/, '');
  return excluded.has(host) || excluded.has(hostname) || excluded.has(domain);
}
