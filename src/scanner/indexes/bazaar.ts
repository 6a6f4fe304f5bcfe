/**
 * The Bazaar of the CDP facilitator: public, no key. `GET …/discovery/merchant?payTo=` lists the
 * resources that pay an address, each with `quality` counts of the last 30 days.
 * https://docs.cdp.coinbase.com/x402/buyer/discover-services
 */
import { LRUCache } from 'lru-cache';
import type {
  BazaarListings,
  ListedResource,
  Lookup,
  SettlementFacts,
} from '../model/observations.ts';
import type { Payee } from '../model/standing.ts';
import { isSameAddress } from '../parse/x402/namespaces.ts';
import { ask, type RequestContext, type SourceAnswer, toFailure } from './ask.ts';
import {
  type MerchantItem,
  type MerchantPage,
  type PaidCounts,
  toIndexParser,
  WINDOW_DAYS,
} from './index-answers.ts';

const API_PATH = '/platform/v2/x402';
/** Small, because items contain whole schemas. */
const ITEMS_PER_PAGE = 100;
const MAX_PAGES = 5;

/** The listings that pay one address. There are none for an unknown merchant. */
export type Merchant = {
  readonly items: readonly MerchantItem[];
  /** False if there may be further items. */
  readonly isComplete: boolean;
};

export type AskMerchant = (
  base: string,
  address: string,
  context: RequestContext,
) => Promise<SourceAnswer<Merchant>>;

/** A scan looks up settlements and listings. Within this time both lookups share one answer, also a failure. */
const SHARED_MS = 60_000;
const MAX_SHARED_ANSWERS = 100;

/** Returns a function that asks for a merchant. `now` returns milliseconds of the clock that stamps answers. */
export function shareMerchantAnswers(now: () => number): AskMerchant {
  type SharedAnswer = { readonly atMs: number; readonly answer: ReturnType<AskMerchant> };
  const sharedAnswers = new LRUCache<string, SharedAnswer>({ max: MAX_SHARED_ANSWERS });
  return (base, address, context) => {
    const key = `${base} ${address}`;
    const shared = sharedAnswers.get(key);
    const nowMs = now();
    if (shared !== undefined && nowMs - shared.atMs < SHARED_MS) return shared.answer;
    const answer = askAllPages(base, address, context);
    sharedAnswers.set(key, { atMs: nowMs, answer });
    return answer;
  };
}

export function toListings({ items, isComplete }: Merchant): BazaarListings {
  const resources = items.flatMap(
    ({ resource, method, terms, lastAt }): readonly ListedResource[] =>
      resource === null ? [] : [{ resource, method, terms, lastSettledAt: lastAt }],
  );
  return { resources, isComplete };
}

/** Reads page after page within one deadline. If a later page fails, the list is incomplete. */
async function askAllPages(
  base: string,
  address: string,
  context: RequestContext,
): Promise<SourceAnswer<Merchant>> {
  const items: MerchantItem[] = [];
  const readKeys = new Set<string>();
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await askPage(base, { address, offset: page * ITEMS_PER_PAGE }, context);
    if (!answer.ok && page === 0) return answer;
    if (!answer.ok) break;
    // If the list changes between two requests, a page may repeat items of an earlier page.
    const newItems = answer.value.items.filter((item) => !readKeys.has(toItemKey(item)));
    items.push(...newItems);
    for (const item of newItems) readKeys.add(toItemKey(item));
    if (!answer.value.isFull) return { ok: true, value: { items, isComplete: true } };
    if (newItems.length === 0) break;
  }
  return { ok: true, value: { items, isComplete: false } };
}

function toItemKey({ resource, method }: MerchantItem): string {
  return `${method} ${resource}`;
}

async function askPage(
  base: string,
  { address, offset }: { readonly address: string; readonly offset: number },
  context: RequestContext,
): Promise<SourceAnswer<MerchantPage>> {
  const query = new URLSearchParams({ payTo: address, limit: String(ITEMS_PER_PAGE) });
  if (offset > 0) query.set('offset', String(offset));
  const reply = await ask(`${toApiBase(base)}/discovery/merchant?${query}`, {
    ...context,
    parser: toIndexParser('readMerchantPage'),
    detail: { address, limit: ITEMS_PER_PAGE },
  });
  if (!reply.ok) return reply;
  const { status, value } = reply.value;
  if (status === 404 && value === 'unknown-merchant')
    return { ok: true, value: { items: [], isFull: false } };
  const name = new URL(base).host;
  if (status !== 200) return toFailure(`${name} answered ${status}`);
  const isPage = value !== null && value !== 'unknown-merchant';
  return isPage ? { ok: true, value } : toFailure(`${name} answered in an unknown shape`);
}

/** Without an address, the rows are about an origin. */
export function toFacts(rows: readonly PaidCounts[], address?: string): SettlementFacts {
  const instants = rows.map(({ lastAt }) => lastAt).filter((at) => at !== null);
  return {
    address: address ?? null,
    // The Bazaar counts only settlements of its own facilitator, and some rows have no count. If no row has a
    // count, the window is unknown.
    windowDays: rows.some(({ calls }) => calls !== null) ? WINDOW_DAYS : 0,
    settlements: rows.reduce((sum, { calls }) => sum + (calls ?? 0), 0),
    // The same payers may be counted in several rows, so only the greatest count is certain.
    payers: Math.max(0, ...rows.map(({ payers }) => payers ?? 0)),
    lastAt: instants.sort().at(-1) ?? null,
  };
}

/** `base` is the URL of a host, or of the API itself. */
export function toApiBase(base: string): string {
  return new URL(base).pathname === '/' ? new URL(API_PATH, base).href : base;
}

/** The Bazaar's answer about an origin that names no recipient. */
export const NO_RECIPIENT = {
  state: 'failed',
  source: 'Bazaar',
  detail: 'it is asked by recipient, and this origin names no recipient',
} as const;

/** Asks the Bazaar about every recipient. If a request fails, the list is incomplete. */
export async function lookUpListings(
  payees: readonly Payee[],
  lookUpPayee: (payee: Payee) => Promise<Lookup<BazaarListings>>,
): Promise<Lookup<BazaarListings>> {
  const distinctPayees = payees.filter(
    (payee, index) =>
      payees.findIndex(({ address }) => isSameAddress(address, payee.address)) === index,
  );
  const lookups = await Promise.all(distinctPayees.map(lookUpPayee));
  const answered = lookups.filter((lookup) => lookup.state === 'seen');
  // The whole list is as old as its oldest part.
  const [oldest] = answered.toSorted((a, b) => b.ageSec - a.ageSec);
  if (oldest === undefined) return lookups[0] ?? NO_RECIPIENT;
  return {
    ...oldest,
    data: {
      resources: answered.flatMap(({ data }) => data.resources),
      isComplete: lookups.every((lookup) => lookup.state === 'seen' && lookup.data.isComplete),
    },
  };
}
