import type { WatchedResource } from '../looks/ask-resources.ts';
import type { Fact, Facts, LookResult } from '../looks/facts.ts';
import type { WatchEvent } from './change-watch.ts';
import type { EventType, Suspicion, WatchState } from './state.ts';

/** Listings that the owner was told of; a scan asks six resources. */
const MAX_LISTINGS = 50;

/** The last state that the owner was told of; the next look is compared with it. */
export type Baseline = {
  readonly facts: Facts;
  /** The resources of the last scan that found any. */
  readonly resources: readonly WatchedResource[];
  readonly checksVersion: string | null;
};

/**
 * Finds the events of a look. A fact that got worse makes an event only when a second look confirms it, at least
 * `confirmAfterMs` after the first; other changes make one at once. The first look of a watch makes none but those of
 * listings that lapse.
 */
export function compare(
  before: Baseline | null,
  suspicions: WatchState['suspicions'],
  look: LookResult,
  confirmAfterMs: number,
) {
  const lapses = findLapses(before?.facts ?? {}, look);
  const facts: Record<string, Fact> = { ...before?.facts, ...Object.fromEntries(lapses) };
  const suspected = { ...suspicions };
  const events: WatchEvent[] = lapses.map(([, { value }]) => ({
    type: 'listing.lapsing',
    after: value,
  }));
  for (const [key, fact] of Object.entries(look.facts).filter(([name]) => !isListing(name))) {
    const known = facts[key];
    if (key.startsWith('check ') && isLeftToScan(fact, known, suspected[key])) continue;
    if (isNewRule(key, before, look) || known === undefined || known.mark === fact.mark) {
      facts[key] = known?.mark === fact.mark ? { ...fact, by: known.by } : fact;
      delete suspected[key];
      continue;
    }
    const since = suspected[key]?.sinceMs;
    const isConfirmed = since !== undefined && look.atMs - since >= confirmAfterMs;
    if (fact.rank > known.rank && !isConfirmed) {
      suspected[key] ??= { sinceMs: look.atMs, by: look.by };
      continue;
    }
    events.push({ type: typeOf(key, known, fact), before: known.value, after: fact.value });
    facts[key] = fact;
    delete suspected[key];
  }
  const resources = look.resources ?? before?.resources ?? [];
  const checksVersion = look.checksVersion ?? before?.checksVersion ?? null;
  const baseline: Baseline = { facts: withoutGone(facts, resources), resources, checksVersion };
  return { baseline, suspicions: suspected, events };
}

function isListing(key: string): boolean {
  return key.startsWith('listing ');
}

/** Finds the listings to tell of: each newest settlement once. An index that lags answers an older one. */
function findLapses(known: Facts, seen: LookResult): readonly (readonly [string, Fact])[] {
  return Object.entries(seen.facts).filter(
    ([key, { mark }]) => isListing(key) && mark > (known[key]?.mark ?? ''),
  );
}

/** Returns true when a newer catalog may explain a changed verdict, which is then no change of the origin. */
function isNewRule(key: string, before: Baseline | null, { checksVersion }: LookResult): boolean {
  const isJudged = key === 'grade' || key.startsWith('check ');
  return isJudged && checksVersion !== null && before?.checksVersion !== checksVersion;
}

/** A scan judges more resources than a look asks: only a scan clears what a scan suspects or found. */
function isLeftToScan(fact: Fact, known?: Fact, suspicion?: Suspicion): boolean {
  const isBetter = known?.by === 'scan' && fact.rank < known.rank;
  return fact.by === 'challenge' && (isBetter || suspicion?.by === 'scan');
}

function typeOf(key: string, known: Fact, fact: Fact): EventType {
  const isWorse = fact.rank > known.rank;
  if (key === 'grade') return 'grade.changed';
  if (key === 'payability') return 'payability.changed';
  if (key === 'reachable') return isWorse ? 'origin.unreachable' : 'origin.recovered';
  if (key.startsWith('terms ')) return 'terms.changed';
  return isWorse ? 'check.failed' : 'check.recovered';
}

/** Drops the terms of resources that the last scan did not find, and all but the newest listings. */
function withoutGone(facts: Facts, resources: readonly WatchedResource[]): Facts {
  const terms = new Set(resources.map(({ method, path }) => `terms ${method} ${path}`));
  const listings = Object.keys(facts).filter(isListing);
  const spent = new Set(listings.slice(0, -MAX_LISTINGS));
  return Object.fromEntries(
    Object.entries(facts).filter(
      ([key]) => !spent.has(key) && (!key.startsWith('terms ') || terms.has(key)),
    ),
  );
}
