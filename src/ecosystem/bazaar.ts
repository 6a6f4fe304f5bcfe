/**
 * The Bazaar of the CDP facilitator: public, no key. `GET …/discovery/merchant?payTo=` lists the
 * resources that pay an address, each with `quality` counts of the last 30 days.
 * https://docs.cdp.coinbase.com/x402/buyer/discover-services
 */

import { Ajv } from 'ajv';
import { LRUCache } from 'lru-cache';
import { Type } from 'typebox';
import type { BazaarListings, ListedResource, SettlementFacts } from '../model/observations.ts';
import { type JsonObject, jsonObject, jsonText } from '../parse/json/json.ts';
import { type Answer, ask, failed, INDEX_ANSWER_BYTES, type RequestContext } from './ask.ts';
import { isSameAddress, toIso } from './compare.ts';
import { declaredInput, listedTerms } from './listed-terms.ts';
import { WINDOW_DAYS } from './settlement-window.ts';

/** Items contain whole schemas. */
const API_PATH = '/platform/v2/x402';
const PAGE_LIMIT = 100;
const MAX_URL_CHARS = 2_048;

type Item = JsonObject & {
  readonly accepts?: readonly { readonly payTo?: string }[];
  readonly quality?: {
    readonly l30DaysTotalCalls?: number | null;
    readonly l30DaysUniquePayers?: number | null;
    readonly lastCalledAt?: string | null;
  } | null;
};

const ajv = new Ajv();
const maybeCount = Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]));
const isItems = ajv.compile<readonly Item[]>(
  Type.Array(
    Type.Object({
      accepts: Type.Optional(Type.Array(Type.Object({ payTo: Type.Optional(Type.String()) }))),
      quality: Type.Optional(
        Type.Union([
          Type.Object({
            l30DaysTotalCalls: maybeCount,
            l30DaysUniquePayers: maybeCount,
            lastCalledAt: Type.Optional(Type.Union([Type.String(), Type.Null()])),
          }),
          Type.Null(),
        ]),
      ),
    }),
  ),
);
/** The interface's answer for an unknown merchant; any other 404 means a wrong address. */
const isUnknownMerchant = ajv.compile(Type.Object({ errorType: Type.Literal('not_found') }));

/** Returns the resources that pay an address; empty for an unknown merchant. */
export type AskMerchant = (
  base: string,
  address: string,
  context: RequestContext,
) => Promise<Answer<readonly Item[]>>;

/** Cache time; exceeds one scan's lookups, so that settlements and listings share an answer. */
const SHARED_MS = 60_000;
const MAX_SHARED = 100;

/** `now` returns milliseconds of the clock that stamps answers. */
export function createMerchants(now: () => number): AskMerchant {
  type Shared = { readonly atMs: number; readonly items: ReturnType<AskMerchant> };
  const shared = new LRUCache<string, Shared>({ max: MAX_SHARED });
  return (base, address, context) => {
    const key = `${base} ${address}`;
    const known = shared.get(key);
    const nowMs = now();
    if (known !== undefined && nowMs - known.atMs < SHARED_MS) return known.items;
    const items = askMerchant(base, address, context);
    shared.set(key, { atMs: nowMs, items });
    return items;
  };
}

export async function bazaarSettlements(
  base: string,
  address: string,
  context: RequestContext,
  ask: AskMerchant = askMerchant,
): Promise<Answer<SettlementFacts>> {
  const found = await ask(base, address, context);
  return found.ok ? { ok: true, value: toFacts(address, found.value) } : found;
}

export async function bazaarListings(
  base: string,
  address: string,
  context: RequestContext,
  ask: AskMerchant = askMerchant,
): Promise<Answer<BazaarListings>> {
  const found = await ask(base, address, context);
  if (!found.ok) return found;
  const resources = found.value.flatMap((item): readonly ListedResource[] => {
    const { resource } = item;
    if (typeof resource !== 'string' || resource.length > MAX_URL_CHARS) return [];
    const method = jsonText(jsonObject(declaredInput(item))['method']);
    return [{ resource, method, terms: listedTerms(item) }];
  });
  return { ok: true, value: { resources, isComplete: found.value.length < PAGE_LIMIT } };
}

async function askMerchant(
  base: string,
  address: string,
  context: RequestContext,
): Promise<Answer<readonly Item[]>> {
  const name = new URL(base).host;
  const query = `payTo=${encodeURIComponent(address)}&limit=${PAGE_LIMIT}`;
  const url = `${apiBase(base)}/discovery/merchant?${query}`;
  const reply = await ask(url, { ...context, capBytes: INDEX_ANSWER_BYTES });
  if (!reply.ok) return reply;
  const { status, text } = reply.value;
  const value = parsed(text);
  if (status === 404 && isUnknownMerchant(value)) return { ok: true, value: [] };
  if (status !== 200) return failed(`${name} answered ${status}`);
  const items = findItems(value);
  if (!isItems(items)) return failed(`${name} answered in an unknown shape`);
  return { ok: true, value: items.filter((item) => pays(item, address)) };
}

function toFacts(address: string, items: readonly Item[]): SettlementFacts {
  const qualities = items.map(({ quality }) => quality ?? {});
  const counts = qualities.map((quality) => quality.l30DaysTotalCalls ?? null);
  const lastAt = qualities
    .map((quality) => toIso(quality.lastCalledAt))
    .filter((at) => at !== null)
    .sort()
    .at(-1);
  return {
    address,
    // The index has only settlements of this facilitator, and counts for some of them. Without counts the
    // window is unknown.
    windowDays: counts.some((count) => count !== null) ? WINDOW_DAYS : 0,
    settlements: counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    // Several resources may have the same payers, so only the greatest count is certain.
    payers: Math.max(0, ...qualities.map((quality) => quality.l30DaysUniquePayers ?? 0)),
    lastAt: lastAt ?? null,
  };
}

function pays({ accepts }: Item, address: string): boolean {
  const recipients = (accepts ?? []).flatMap(({ payTo }) => payTo ?? []);
  return recipients.length === 0 || recipients.some((payTo) => isSameAddress(payTo, address));
}

/** The setting is a host or the interface's own URL. */
function apiBase(base: string): string {
  return new URL(base).pathname === '/' ? new URL(API_PATH, base).href : base;
}

function findItems(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Reflect.get(value, 'resources') ?? Reflect.get(value, 'items');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
