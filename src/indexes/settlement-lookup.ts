import type { Origin } from '../guard/origin.ts';
import type { Lookup, SettlementFacts } from '../model/observations.ts';
import type { Payee } from '../model/standing.ts';
import type { RequestContext } from './ask.ts';
import { hedgedLookup } from './hedged-lookup.ts';
import { isSettlementFacts } from './kept-shapes.ts';
import type { ResponseCache } from './response-cache.ts';
import type { SettlementSource } from './settlement-sources.ts';
import { WINDOW_DAYS } from './settlement-window.ts';

const CACHE_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Returns the first source in order that saw a settlement in the window; else the one with the longest
 * window; else the failure.
 */
export async function settlementLookup(
  sources: readonly SettlementSource[],
  origin: Origin,
  payees: readonly Payee[],
  cache: ResponseCache,
  context: RequestContext,
): Promise<Lookup<SettlementFacts>> {
  if (sources.length === 0) return { state: 'off', why: 'switched-off' };
  const questions = sources.flatMap(({ name, question }) => {
    const asked = question(origin, payees);
    return asked === null ? [] : [{ source: name, ...asked }];
  });
  const lookups = await hedgedLookup(
    questions.map(
      ({ source, key, ask }) =>
        () =>
          cache.lookup({
            source,
            key,
            cacheMs: CACHE_MS,
            isAnswer: isSettlementFacts,
            ask: () => ask(context),
          }),
    ),
    sawSettlement,
  );
  const telling = lookups.find(sawSettlement);
  const [widest] = lookups
    .filter((lookup) => lookup.state === 'seen')
    .sort((one, other) => other.data.windowDays - one.data.windowDays);
  return telling ?? widest ?? failure(sources, lookups);
}

/** The window ends at the source's answer, not now, so that a later outage changes nothing. */
function sawSettlement(lookup: Lookup<SettlementFacts>): boolean {
  if (lookup.state !== 'seen') return false;
  const agoMs = Date.parse(lookup.asOf) - Date.parse(lookup.data.lastAt ?? '');
  return lookup.data.settlements > 0 || agoMs <= WINDOW_DAYS * DAY_MS;
}

function failure(
  sources: readonly SettlementSource[],
  lookups: readonly Lookup<SettlementFacts>[],
): Lookup<SettlementFacts> {
  const failed = lookups.filter((lookup) => lookup.state === 'failed');
  if (failed.length === 0) {
    const source = listNames(sources.map(({ name }) => name));
    return { state: 'failed', source, detail: 'asked by recipient, and this origin names none' };
  }
  return {
    state: 'failed',
    source: listNames(failed.map((lookup) => lookup.source)),
    detail: [...new Set(failed.map((lookup) => lookup.detail))].join('; '),
  };
}

function listNames(names: readonly string[]): string {
  return [...new Set(names)].join(', ');
}
