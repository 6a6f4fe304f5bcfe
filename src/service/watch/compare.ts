import type { WatchedResource } from '../turns/ask-resources.ts';
import type { WatchEvent } from './change-watch.ts';
import type { Fact, LookResult, WatchFacts } from './facts.ts';
import type { EventType, Suspicion, WatchState } from './state.ts';

/** Limit of remembered `listing.lapsing` facts. */
const MAX_LISTINGS = 50;

/** The last facts that the owner knows. The next look is compared with them. */
export type Baseline = {
  readonly facts: WatchFacts;
  /** The resources of the last scan that found one. */
  readonly resources: readonly WatchedResource[];
  readonly checksVersion: string | null;
  /** Absent in the facts of older releases. */
  readonly scannerVersion?: string | undefined;
};

type Comparison = {
  readonly baseline: Baseline;
  readonly suspicions: WatchState['suspicions'];
  readonly events: readonly WatchEvent[];
};

/**
 * Finds the events of a look. A fact that got worse causes an event only if a second look confirms it, at least
 * `confirmAfterMs` after the first. Other changes cause an event at once. The first look of a watch causes only
 * `listing.lapsing` events.
 */
export function compare(
  before: Baseline | null,
  suspicions: WatchState['suspicions'],
  look: LookResult,
  confirmAfterMs: number,
): Comparison {
  if (before === null || !hasOtherRules(before, look))
    return compareFacts(before, suspicions, look, confirmAfterMs);
  // The facts of `before` were found by other rules. Only a scan finds all of them again.
  if (look.by === 'challenge') return { baseline: before, suspicions, events: [] };
  const listings = Object.entries(before.facts).filter(([key]) => isListing(key));
  const listingsOnly = { ...before, facts: Object.fromEntries(listings) };
  const comparison = compareFacts(listingsOnly, {}, look, confirmAfterMs);
  const rulesEvents = toRulesEvents(before.facts, look.facts);
  return { ...comparison, events: [...comparison.events, ...rulesEvents] };
}

function compareFacts(
  before: Baseline | null,
  oldSuspicions: WatchState['suspicions'],
  look: LookResult,
  confirmAfterMs: number,
): Comparison {
  const lapses = findNewLapses(before?.facts ?? {}, look);
  const facts: Record<string, Fact> = { ...before?.facts, ...Object.fromEntries(lapses) };
  const suspicions = { ...oldSuspicions };
  const events: WatchEvent[] = lapses.map(([, { value }]) => ({
    type: 'listing.lapsing',
    after: value,
  }));
  for (const [key, fact] of Object.entries(look.facts).filter(([name]) => !isListing(name))) {
    const oldFact = facts[key];
    if (key.startsWith('check ') && isDecidedByScan(fact, oldFact, suspicions[key])) continue;
    if (oldFact === undefined || oldFact.mark === fact.mark) {
      // What a scan found stays found by a scan, so an hourly request cannot clear it later.
      facts[key] = oldFact?.mark === fact.mark ? { ...fact, by: oldFact.by } : fact;
      delete suspicions[key];
      continue;
    }
    const sinceMs = suspicions[key]?.sinceMs;
    const isConfirmed = sinceMs !== undefined && look.atMs - sinceMs >= confirmAfterMs;
    if (fact.rank > oldFact.rank && !isConfirmed) {
      // A repeated look keeps the time of the first one.
      suspicions[key] ??= { sinceMs: look.atMs, by: look.by };
      continue;
    }
    const type = toEventType(key, oldFact, fact);
    events.push({ type, before: oldFact.value, after: fact.value });
    facts[key] = fact;
    delete suspicions[key];
  }
  const resources = look.resources ?? before?.resources ?? [];
  const checksVersion = look.checksVersion ?? before?.checksVersion ?? null;
  const scannerVersion = look.scannerVersion ?? before?.scannerVersion;
  const rules = { checksVersion, ...(scannerVersion && { scannerVersion }) };
  const baseline: Baseline = { facts: dropGoneFacts(facts, resources), resources, ...rules };
  return { baseline, suspicions, events };
}

function isListing(key: string): boolean {
  return key.startsWith('listing ');
}

/** Leaves out listings that the owner knows, and older settlements: they come from an index that lags. */
function findNewLapses(
  knownFacts: WatchFacts,
  look: LookResult,
): readonly (readonly [string, Fact])[] {
  return Object.entries(look.facts).filter(
    ([key, { mark }]) => isListing(key) && mark > (knownFacts[key]?.mark ?? ''),
  );
}

/** True if another catalog or program, and not the origin, may have changed what the look found. */
function hasOtherRules(before: Baseline, { checksVersion, scannerVersion }: LookResult): boolean {
  const isOtherProgram = scannerVersion !== undefined && before.scannerVersion !== scannerVersion;
  return isOtherProgram || (checksVersion !== null && before.checksVersion !== checksVersion);
}

/** Returns one event with both grades; none if a grade is missing. */
function toRulesEvents(
  { grade: before }: WatchFacts,
  { grade: after }: WatchFacts,
): readonly WatchEvent[] {
  if (before === undefined || after === undefined) return [];
  return [{ type: 'rules.changed', before: before.value, after: after.value }];
}

/** A scan judges more resources than an hourly request. Only a scan may clear what a scan found or suspects. */
function isDecidedByScan(fact: Fact, oldFact?: Fact, suspicion?: Suspicion): boolean {
  const isBetter = oldFact?.by === 'scan' && fact.rank < oldFact.rank;
  return fact.by === 'challenge' && (isBetter || suspicion?.by === 'scan');
}

function toEventType(key: string, oldFact: Fact, fact: Fact): EventType {
  const isWorse = fact.rank > oldFact.rank;
  if (key === 'grade') return 'grade.changed';
  if (key === 'payability') return 'payability.changed';
  if (key === 'reachable') return isWorse ? 'origin.unreachable' : 'origin.recovered';
  if (key.startsWith('terms ')) return 'terms.changed';
  return isWorse ? 'check.failed' : 'check.recovered';
}

/** Drops the terms of resources that the last scan did not find, and the oldest listings. */
function dropGoneFacts(facts: WatchFacts, resources: readonly WatchedResource[]): WatchFacts {
  const terms = new Set(resources.map(({ method, path }) => `terms ${method} ${path}`));
  const listings = Object.keys(facts).filter(isListing);
  // Keys keep the order in which they were added.
  const oldest = new Set(listings.slice(0, -MAX_LISTINGS));
  return Object.fromEntries(
    Object.entries(facts).filter(
      ([key]) => !oldest.has(key) && (!key.startsWith('terms ') || terms.has(key)),
    ),
  );
}
