/** Hosts of a seeded directory: the same for the same number, and spread as real ones are. */
import { DAY_LETTERS, SHOWN_DAYS } from '../../src/scanner/model/payability.ts';
import { ALL_GRADES, CATEGORIES } from '../../src/scanner/model/report.ts';
import type { DayWords } from '../../src/service/store/census.ts';
import type { PublishedScan } from '../../src/service/store/published-scan.ts';
import { utcDay } from '../../src/service/store/statistics.ts';

export type DirectorySeed = {
  readonly hosts: number;
  readonly sample: PublishedScan;
  /** Scans lie in the 60 days before. */
  readonly nowMs: number;
  /** Default: names as real ones, made of syllables. */
  readonly nameOf?: (n: number) => string;
  /** Default true: a few owners hide their hosts, or their branding. */
  readonly hasHidden?: boolean;
  /** Default false: three hosts of five have words of a census, each with a letter for today. */
  readonly hasCensus?: boolean;
};

export type SeededHost = {
  /** Number of the host in the directory, from 0. */
  readonly n: number;
  readonly scan: PublishedScan;
  /** The words of the census about this host; null if the census has none. */
  readonly words: DayWords | null;
};

const DAY_MS = 86_400_000;
const SPREAD_DAYS = 60;
const CONSONANTS = 'bcdfghjklmnpqrstvwxz';
const VOWELS = 'aeiou';
const SYLLABLES = CONSONANTS.length * VOWELS.length;
const PREFIXES = ['', '', '', '', 'api.', 'x402.', 'www.', 'agent-'];
const SUFFIXES = ['.com', '.com', '.io', '.dev', '.ai', '.xyz', '.vercel.app', '.workers.dev'];
/** A prime that is not a factor of any size: neighbours by number are neighbours in nothing else. */
const STRIDE = 7_919;

export function* seededHosts(seed: DirectorySeed): Generator<SeededHost> {
  const { hosts, sample, nowMs, nameOf = syllableName } = seed;
  for (let n = 0; n < hosts; n += 1) {
    const scan: PublishedScan = {
      ...sample,
      scanId: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      host: nameOf(n),
      scannedAtMs: nowMs - 1_000 - Math.floor(toFraction(n, 1) * SPREAD_DAYS * DAY_MS),
      grade: pick(ALL_GRADES, toFraction(n, 2)),
      score: Math.floor(toFraction(n, 3) * 101),
      branding: { ...sample.branding, category: pick(CATEGORIES, toFraction(n, 4) ** 2) },
    };
    yield { n, scan, words: seed.hasCensus ? wordsOf(n, nowMs) : null };
  }
}

function wordsOf(n: number, nowMs: number): DayWords | null {
  if (n % 5 > 2) return null;
  const word = toFraction(n, 7) < 0.8 ? 'payable' : 'down';
  const wordAtMs = nowMs - 1 - Math.floor(toFraction(n, 8) * DAY_MS);
  const before = Array.from({ length: SHOWN_DAYS - 1 }, (_, day) =>
    toFraction(n, 9 + day) < 0.9 ? 'p' : 'd',
  ).join('');
  return { word, wordAtMs, letters: before + DAY_LETTERS[word], letterDay: utcDay(nowMs) };
}

/** Returns the proof of ownership that each fiftieth host has. A few proofs are older than a year. */
export function findConfirmations({
  n,
  scan,
}: SeededHost): readonly { readonly confirmedAtMs: number }[] {
  if (n % 50 !== 7) return [];
  const yearsAgo = n % 5_000 === 7 ? 2 : 0;
  return [{ confirmedAtMs: scan.scannedAtMs - yearsAgo * 365 * DAY_MS }];
}

export function findHiddenSettings({
  n,
}: SeededHost): readonly ('listed' | 'enrichmentSuppressed')[] {
  if (n % 200 === 3) return ['listed'];
  return n % 200 === 5 ? ['enrichmentSuppressed'] : [];
}

/** No two have the same syllables; how many there are depends on the number alone. */
function syllableName(n: number): string {
  let rest = (n * STRIDE) % SYLLABLES ** 3;
  let name = '';
  for (let digit = 0; digit < 3; digit += 1) {
    name += syllable(rest % SYLLABLES);
    rest = Math.floor(rest / SYLLABLES);
  }
  const more = Math.floor(n / SYLLABLES ** 3);
  const label = more === 0 ? name : `${name}${more}`;
  return `${pick(PREFIXES, toFraction(n, 5))}${label}${pick(SUFFIXES, toFraction(n, 6))}`;
}

function syllable(digit: number): string {
  return `${CONSONANTS[Math.floor(digit / VOWELS.length)]}${VOWELS[digit % VOWELS.length]}`;
}

function pick<T>(values: readonly T[], at: number): T {
  const value = values[Math.floor(at * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

/** Returns a pseudo-random number from 0 to 1. */
function toFraction(n: number, salt: number): number {
  let mix = Math.imul(n + 1, 0x9e37_79b1) ^ Math.imul(salt, 0x85eb_ca6b);
  mix = Math.imul(mix ^ (mix >>> 15), 0x2c1b_3c6d);
  mix = Math.imul(mix ^ (mix >>> 12), 0x297a_2d39);
  return ((mix ^ (mix >>> 15)) >>> 0) / 4_294_967_296;
}
