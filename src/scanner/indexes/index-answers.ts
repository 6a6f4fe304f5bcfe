/**
 * Shapes of the indexes' answers, and their readers. Workers run this file for long answers, so it imports nothing that
 * sends requests. The shapes are from x402scan's repository (Merit-Systems/x402scan, apps/scan/src/trpc/routers/public)
 * and https://docs.cdp.coinbase.com/x402/buyer/discover-services.
 */
import { Ajv } from 'ajv';
import { type Static, type TSchema, Type } from 'typebox';
import { readMembers, tryParseJson } from '../model/json.ts';
import type { IndexedResource, ListedTerms } from '../model/observations.ts';
import { count, list, nullable, shape, text } from '../model/shapes.ts';
import {
  bazaarListings,
  indexRow,
  offersOnChain,
  settlementFacts,
} from '../model/third-parties.ts';
import { type JsonObject, type JsonValue, jsonObject, jsonText } from '../parse/json/json.ts';
import { isSameAddress } from '../parse/x402/namespaces.ts';
import { findDeclaredInput, toIso, toListedTerms } from './listed-terms.ts';

const MAX_RESOURCES = 1_000;
const MAX_URL_CHARS = 2_048;
const MAX_PARTNERS = 5_000;
const MAX_NAME_CHARS = 200;
/** Matches the member `websiteUrl` in JSON, or in escaped JSON inside a script. */
const WEBSITE_PATTERN = /\\?"websiteUrl\\?"\s*:\s*\\?"(https?:[^"\\\s]{1,2000})/g;

export type Partner = { readonly name: string | null; readonly website: string };

/** A row of x402scan's search of origins. */
export type OriginRow = {
  readonly id: string | null;
  readonly origin: string;
  readonly resources: readonly IndexedResource[];
};

/** The days whose settlements are asked for and counted. */
export const WINDOW_DAYS = 30;

/** Counts of settlements in the window; null if the index does not say. */
export type PaidCounts = {
  readonly calls: number | null;
  readonly payers: number | null;
  /** ISO 8601. */
  readonly lastAt: string | null;
};

/** An item of the Bazaar. */
export type MerchantItem = PaidCounts & {
  /** The URL; null if it is missing or too long. */
  readonly resource: string | null;
  readonly method: string | null;
  readonly terms: ListedTerms;
};

export type MerchantPage = {
  /** Items that pay the address. */
  readonly items: readonly MerchantItem[];
  /** True if there may be a further page. */
  readonly isFull: boolean;
};

const ajv = new Ajv();

function compileValidator<T extends TSchema>(schema: T) {
  return ajv.compile<Static<T>>(schema);
}

const maybeText = Type.Optional(nullable(text));
const maybeCount = Type.Optional(nullable(count));

const originRow = Type.Object({
  id: Type.Optional(text),
  origin: text,
  resources: Type.Array(
    Type.Object({
      resource: text,
      method: maybeText,
      lastUpdated: maybeText,
      deprecatedAt: maybeText,
      accepts: Type.Optional(Type.Array(Type.Unsafe<JsonValue>({}))),
    }),
  ),
});
const isOriginRows = compileValidator(Type.Array(originRow));

/** `total`: number of payment options. `verified`: of those whose recipient signed for the origin, or true for all. */
const isVerification = compileValidator(
  Type.Object({ verified: Type.Union([count, Type.Boolean()]), total: Type.Optional(count) }),
);

/** A row of x402scan's lists of sellers. */
const sellerRow = Type.Object({
  tx_count: count,
  unique_buyers: count,
  latest_block_timestamp: maybeText,
  /** Only in lists by address. */
  recipient: Type.Optional(text),
  /** Only in lists by origin. */
  origins: Type.Optional(Type.Array(Type.Object({ origin: text }))),
});
const isSellerRows = compileValidator(Type.Array(sellerRow));

const rawItem = Type.Object({
  accepts: Type.Optional(Type.Array(Type.Object({ payTo: Type.Optional(text) }))),
  quality: Type.Optional(
    nullable(
      Type.Object({
        l30DaysTotalCalls: maybeCount,
        l30DaysUniquePayers: maybeCount,
        lastCalledAt: maybeText,
      }),
    ),
  ),
});
type RawItem = JsonObject & Static<typeof rawItem>;
export const isRawItem = ajv.compile<RawItem>(rawItem);
const isRawItems = ajv.compile<readonly RawItem[]>(Type.Array(rawItem));

/** The Bazaar's answer for an unknown merchant. Any other 404 means that the URL in the settings is wrong. */
const isUnknownMerchant = ajv.compile(Type.Object({ errorType: Type.Literal('not_found') }));

/** The result for an answer that is not JSON (undefined), or that has an unknown shape (null). */
export type Unread = null | undefined;

export function readOriginRows(answer: string): readonly OriginRow[] | Unread {
  const { data, unread } = readTrpc(answer);
  const rows = readList(data);
  if (!isOriginRows(rows)) return unread;
  return rows.map(({ id, origin, resources }) => ({
    id: id ?? null,
    origin,
    resources: resources
      .filter(({ resource }) => resource.length <= MAX_URL_CHARS)
      .slice(0, MAX_RESOURCES)
      .map((resource) => ({
        resource: resource.resource,
        method: resource.method ?? null,
        lastUpdated: toIso(resource.lastUpdated),
        accepts: resource.accepts?.length ?? 0,
        deprecated: typeof resource.deprecatedAt === 'string',
        terms: toListedTerms(resource),
      })),
  }));
}

/** Returns true if every recipient in the index has signed for the origin; if the index gives no total, if one has. */
export function readVerification(answer: string): boolean | Unread {
  const { data, unread } = readTrpc(answer);
  if (!isVerification(data)) return unread;
  const { verified, total } = data;
  if (typeof verified === 'boolean') return verified;
  return verified > 0 && (total === undefined || verified === total);
}

export function readSellerRows(answer: string) {
  const { data, unread } = readTrpc(answer);
  const rows = readList(data);
  if (!isSellerRows(rows)) return unread;
  return rows.map((row) => ({
    calls: row.tx_count,
    payers: row.unique_buyers,
    lastAt: toIso(row.latest_block_timestamp),
    recipient: row.recipient,
    origins: row.origins?.map(({ origin }) => origin),
  }));
}

/** Reads `resources` (CDP) or `items` (x402's specification). Null: the answer is not JSON, or has another shape. */
export function readMerchantPage(
  answer: string,
  { address, limit }: { readonly address: string; readonly limit: number },
): MerchantPage | 'unknown-merchant' | null {
  const value = tryParseJson(answer);
  if (isUnknownMerchant(value)) return 'unknown-merchant';
  const items = getMember(value, ['resources']) ?? getMember(value, ['items']);
  if (!isRawItems(items)) return null;
  return {
    items: items.filter((item) => paysTo(item.accepts ?? [], address)).map(toMerchantItem),
    isFull: items.length >= limit,
  };
}

/** Reads records `{name, websiteUrl, …}` of a JSON document or an HTML page. */
export function readPartners(answer: string): readonly Partner[] {
  const value = tryParseJson(answer);
  const partners =
    value === undefined ? findPartnersInPage(answer) : findLists(value).flatMap(toPartners);
  return partners.slice(0, MAX_PARTNERS);
}

function findPartnersInPage(page: string): readonly Partner[] {
  return [...page.matchAll(WEBSITE_PATTERN)].map(([, website = '']) => ({ name: null, website }));
}

/** Returns the value if it is a list, and else the lists in its members. */
function findLists(value: unknown): readonly (readonly unknown[])[] {
  if (Array.isArray(value)) return [value];
  return Object.values(readMembers(value)).filter((member) => Array.isArray(member));
}

function toPartners(list: readonly unknown[]): readonly Partner[] {
  return list.flatMap((record) => {
    const { websiteUrl: website, name } = readMembers(record);
    if (typeof website !== 'string' || website.length > MAX_URL_CHARS) return [];
    return [{ name: typeof name === 'string' ? name.slice(0, MAX_NAME_CHARS) : null, website }];
  });
}

export function toMerchantItem(item: RawItem): MerchantItem {
  const { resource, quality } = item;
  return {
    resource: typeof resource === 'string' && resource.length <= MAX_URL_CHARS ? resource : null,
    method: jsonText(jsonObject(findDeclaredInput(item))['method']),
    terms: toListedTerms(item),
    calls: quality?.l30DaysTotalCalls ?? null,
    payers: quality?.l30DaysUniquePayers ?? null,
    lastAt: toIso(quality?.lastCalledAt),
  };
}

/** True if an offer pays the address, or if no offer names a recipient. */
export function paysTo(offers: readonly { payTo?: string | null }[], address: string): boolean {
  const recipients = offers.flatMap(({ payTo }) => payTo ?? []);
  return recipients.length === 0 || recipients.some((payTo) => isSameAddress(payTo, address));
}

/** Reads an answer of tRPC with superjson. `unread` is the result if `data` has an unknown shape. */
export function readTrpc(answer: string): { readonly data: unknown; readonly unread: Unread } {
  const value = tryParseJson(answer);
  const unread = value === undefined ? undefined : null;
  return { data: getMember(value, ['result', 'data', 'json']), unread };
}

/** Some procedures answer with a list, and others with an object that has the list in `items`. */
function readList(value: unknown): unknown {
  return Array.isArray(value) ? value : getMember(value, ['items']);
}

export function getMember(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Reflect.get(current, name);
  }
  return current;
}

/** Validators of cached answers: an older release or a person may have written one. */
export const isIndexRow = compileValidator(indexRow);
export const isBazaarListings = compileValidator(bazaarListings);
export const isOffersOnChain = compileValidator(offersOnChain);
export const isSettlementFacts = compileValidator(settlementFacts);
export const isVerifiedFlag = compileValidator(Type.Boolean());
export const isPartners = compileValidator(list(shape({ name: nullable(text), website: text })));

const PARSERS = {
  readMerchantPage,
  readOriginRows,
  readPartners,
  readSellerRows,
  readVerification,
} as const;

/** Returns a reader of this file as a parser, which a worker can import. */
export function toIndexParser<Name extends keyof typeof PARSERS>(exportName: Name) {
  // In the npm package, `import.meta.url` alone would be the bundle that has this file.
  const module = new URL('./index-answers.ts', import.meta.url).href;
  return { module, exportName, parse: PARSERS[exportName] };
}
