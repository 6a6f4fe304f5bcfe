import { setTimeout as delay } from 'node:timers/promises';
import type { Origin } from '../guard/origin.ts';
import type { Lookup, SettlementFacts } from '../model/observations.ts';
import type { Payee } from '../model/standing.ts';
import { toCaip2 } from '../parse/x402/networks.ts';
import { mapAnswer, type RequestContext, type SourceAnswer } from './ask.ts';
import { type AskMerchant, NO_RECIPIENT, toFacts } from './bazaar.ts';
import { isSettlementFacts, WINDOW_DAYS } from './index-answers.ts';
import type { Question, ResponseCache } from './response-cache.ts';
import type { SourceOptions } from './source-options.ts';
import { askX402scanByAddress, askX402scanByOrigin } from './x402scan.ts';

const DAY_MS = 86_400_000;

/**
 * Returns the answer of the first source, in order, that saw a settlement in the window. If no source saw a settlement,
 * returns the answer with the longest window, or else the failure.
 */
export async function lookUpSettlements(
  sources: readonly SettlementSource[],
  origin: Origin,
  payees: readonly Payee[],
  cache: ResponseCache,
  context: RequestContext,
): Promise<Lookup<SettlementFacts>> {
  if (sources.length === 0) return { state: 'off', why: 'switched-off' };
  const lookupStarts = sources.flatMap(({ name: source, toQuestion }) => {
    const question = toQuestion(origin, payees, context);
    if (question === null) return [];
    return [() => cache.lookup({ ...question, source, isAnswer: isSettlementFacts })];
  });
  const lookups = await lookUpHedged(lookupStarts, hasSettlement);
  const sufficient = lookups.find(hasSettlement);
  const [widest] = lookups
    .filter((lookup) => lookup.state === 'seen')
    .sort((a, b) => b.data.windowDays - a.data.windowDays);
  return sufficient ?? widest ?? toFailedLookup(sources, lookups);
}

/** The window ends at the time of the source's answer, so the result for a cached answer never changes. */
export function hasSettlement(lookup: Lookup<SettlementFacts>): boolean {
  if (lookup.state !== 'seen') return false;
  const agoMs = Date.parse(lookup.asOf) - Date.parse(lookup.data.lastAt ?? '');
  return lookup.data.settlements > 0 || agoMs <= WINDOW_DAYS * DAY_MS;
}

function toFailedLookup(
  sources: readonly SettlementSource[],
  lookups: readonly Lookup<SettlementFacts>[],
): Lookup<SettlementFacts> {
  const failures = lookups.filter((lookup) => lookup.state === 'failed');
  if (failures.length === 0) {
    const source = listNames(sources.map(({ name }) => name));
    return { ...NO_RECIPIENT, source };
  }
  return {
    state: 'failed',
    source: listNames(failures.map((lookup) => lookup.source)),
    detail: [...new Set(failures.map((lookup) => lookup.detail))].join('; '),
  };
}

function listNames(names: readonly string[]): string {
  return [...new Set(names)].join(', ');
}

type SettlementSource = {
  /** Display name for evidence. */
  readonly name: string;
  /**
   * Returns null if the source cannot answer for this origin and these recipients. Two scans with the same key of a
   * source share an answer.
   */
  toQuestion(
    origin: Origin,
    payees: readonly Payee[],
    context: RequestContext,
  ): Pick<Question<SettlementFacts>, 'key' | 'ask'> | null;
};

/**
 * Lists the enabled sources. First comes the source that answers about the origin. The others answer about the recipient,
 * who may have other origins.
 */
export function listSettlementSources(
  options: SourceOptions,
  askMerchant: AskMerchant,
): readonly SettlementSource[] {
  const { x402scanUrl, bazaarUrl, rpcUrl, asset, network, chainTurn } = options;
  const sources: SettlementSource[] = [];
  if (x402scanUrl !== null) {
    sources.push(
      {
        name: 'x402scan',
        toQuestion: (origin, _payees, context) => ({
          key: `${x402scanUrl} settlements of ${origin.url}`,
          ask: () => askX402scanByOrigin(x402scanUrl, origin, context),
        }),
      },
      toAddressSource('x402scan', x402scanUrl, (address, context) =>
        askX402scanByAddress(x402scanUrl, address, context),
      ),
    );
  }
  if (bazaarUrl !== null) {
    sources.push(
      toAddressSource('Bazaar', bazaarUrl, async (address, context) => {
        const merchant = await askMerchant(bazaarUrl, address, context);
        return mapAnswer(merchant, ({ items }) => toFacts(items, address));
      }),
    );
  }
  if (rpcUrl !== null) {
    sources.push(
      toAddressSource(
        'chain logs',
        `${network} ${asset}`,
        async (address, context) => {
          // Imported at the first use, because it loads the chain packages.
          const { findSettlementsInLogs } = await import('./settlement-logs.ts');
          return findSettlementsInLogs({ rpcUrl, asset, chainTurn }, address, context);
        },
        (payee) => toCaip2(payee.network) === network,
      ),
    );
  }
  return sources;
}

function toAddressSource(
  name: string,
  scope: string,
  ask: (address: string, context: RequestContext) => Promise<SourceAnswer<SettlementFacts>>,
  canAskAbout: (payee: Payee) => boolean = () => true,
): SettlementSource {
  return {
    name,
    toQuestion: (_origin, payees, context) => {
      const payee = payees.find(canAskAbout);
      if (payee === undefined) return null;
      const { address } = payee;
      return { key: `${scope} settlements to ${address}`, ask: () => ask(address, context) };
    },
  };
}

export type StartLookup<T> = () => Promise<Lookup<T>>;

/** Time that a source has to answer before the next one is asked in parallel. */
const HEAD_START_MS = 750;

/**
 * Asks sources in order. The next one is asked after an insufficient answer, or after a delay. Returns the lookups up to
 * the first sufficient one, or all. The lookups must not reject. The deadline that the sources share ends all lookups.
 */
export async function lookUpHedged<T>(
  lookupStarts: readonly StartLookup<T>[],
  isEnough: (lookup: Lookup<T>) => boolean,
  headStartMs = HEAD_START_MS,
): Promise<readonly Lookup<T>[]> {
  const [start, ...later] = lookupStarts;
  if (start === undefined) return [];
  const pending = start();
  const early = await Promise.race([pending, delay(headStartMs, null, { ref: false })]);
  if (early !== null && isEnough(early)) return [early];
  const others = lookUpHedged(later, isEnough, headStartMs);
  const lookup = await pending;
  return isEnough(lookup) ? [lookup] : [lookup, ...(await others)];
}
