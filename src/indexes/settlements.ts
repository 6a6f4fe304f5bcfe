import { setTimeout as delay } from 'node:timers/promises';
import type { Origin } from '../guard/origin.ts';
import type { Lookup, SettlementFacts } from '../model/observations.ts';
import type { Payee } from '../model/standing.ts';
import { toCaip2 } from '../parse/x402/networks.ts';
import { type IndexAnswer, type RequestContext, WINDOW_DAYS } from './ask.ts';
import { type AskMerchant, bazaarSettlements } from './bazaar.ts';
import { isSettlementFacts } from './cached-answer-schemas.ts';
import type { EcosystemOptions } from './options.ts';
import type { ResponseCache } from './response-cache.ts';
import { x402scanSettlementsByAddress, x402scanSettlementsByOrigin } from './x402scan.ts';

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
  const turns = sources.flatMap(({ name: source, question }) => {
    const asked = question(origin, payees);
    if (asked === null) return [];
    const { key, ask } = asked;
    const lookup = { source, key, isAnswer: isSettlementFacts, ask: () => ask(context) };
    return [() => cache.lookup(lookup)];
  });
  const lookups = await hedgedLookup(turns, sawSettlement);
  const telling = lookups.find(sawSettlement);
  const [widest] = lookups
    .filter((lookup) => lookup.state === 'seen')
    .sort((one, other) => other.data.windowDays - one.data.windowDays);
  return telling ?? widest ?? failure(sources, lookups);
}

/** The window ends at the source's answer, not now, so that a later outage changes nothing. */
export function sawSettlement(lookup: Lookup<SettlementFacts>): boolean {
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

export type SettlementQuestion = {
  /** Cache key within the source: two scans with the same key share an answer. */
  readonly key: string;
  ask(context: RequestContext): Promise<IndexAnswer<SettlementFacts>>;
};

export type SettlementSource = {
  /** Display name for evidence. */
  readonly name: string;
  /** Null when the source cannot answer for this origin and these recipients. */
  question(origin: Origin, payees: readonly Payee[]): SettlementQuestion | null;
};

/**
 * In order of trust that their answers are about this origin. Disabled sources are left out; an empty list
 * means that none can be asked.
 */
export function settlementSources(
  options: EcosystemOptions,
  askMerchant?: AskMerchant,
): readonly SettlementSource[] {
  const { x402scanUrl, bazaarUrl, rpcUrl, asset, network, chainTurn } = options;
  const sources: SettlementSource[] = [];
  if (x402scanUrl !== null) {
    sources.push(
      {
        name: 'x402scan',
        question: (origin) => ({
          key: `${x402scanUrl} settlements of ${origin.url}`,
          ask: (context) => x402scanSettlementsByOrigin(x402scanUrl, origin, context),
        }),
      },
      byAddress('x402scan', x402scanUrl, (address, context) =>
        x402scanSettlementsByAddress(x402scanUrl, address, context),
      ),
    );
  }
  if (bazaarUrl !== null) {
    sources.push(
      byAddress('Bazaar', bazaarUrl, (address, context) =>
        bazaarSettlements(bazaarUrl, address, context, askMerchant),
      ),
    );
  }
  if (rpcUrl !== null) {
    sources.push(
      byAddress(
        'chain logs',
        `${network} ${asset}`,
        async (address, context) => {
          // Imported on demand, because it loads the chain packages.
          const { settlementsInLogs } = await import('./settlement-logs.ts');
          return settlementsInLogs({ rpcUrl, asset, chainTurn }, address, context);
        },
        (payee) => toCaip2(payee.network) === network,
      ),
    );
  }
  return sources;
}

function byAddress(
  name: string,
  place: string,
  ask: (address: string, context: RequestContext) => Promise<IndexAnswer<SettlementFacts>>,
  isCovered: (payee: Payee) => boolean = () => true,
): SettlementSource {
  return {
    name,
    question: (_origin, payees) => {
      const payee = payees.find(isCovered);
      if (payee === undefined) return null;
      const { address } = payee;
      return { key: `${place} settlements to ${address}`, ask: (context) => ask(address, context) };
    },
  };
}

export type SourceLookup<T> = () => Promise<Lookup<T>>;

/** Milliseconds to wait for a source before the next is asked in parallel. */
const HEAD_START_MS = 750;

/**
 * Asks sources in order, the next one after a useless answer or a delay. Returns the lookups up to the
 * first sufficient one, or all. `turns` must not reject. If all sources share one deadline, the whole
 * lookup ends with it.
 */
export async function hedgedLookup<T>(
  turns: readonly SourceLookup<T>[],
  isEnough: (lookup: Lookup<T>) => boolean,
  headStartMs = HEAD_START_MS,
): Promise<readonly Lookup<T>[]> {
  const [turn, ...later] = turns;
  if (turn === undefined) return [];
  const lookup = turn();
  const soon = await Promise.race([lookup, delay(headStartMs, null, { ref: false })]);
  if (soon !== null && isEnough(soon)) return [soon];
  const others = hedgedLookup(later, isEnough, headStartMs);
  const own = await lookup;
  return isEnough(own) ? [own] : [own, ...(await others)];
}
