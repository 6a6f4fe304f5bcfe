/** Reads the pages of whole indexes. Workers run this file for long pages, so it imports nothing that sends requests. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { getDomain } from 'tldts';
import { OriginRefused } from '../guard/failures.ts';
import { type Origin, type OriginPolicy, toOrigin, validateUrl } from '../guard/origin.ts';
import { tryParseJson } from '../model/json.ts';
import { type JsonValue, jsonText } from '../parse/json/json.ts';
import type { AnswerParser } from '../third-parties/answer-reader.ts';
import {
  getMember,
  isRawItem,
  type MerchantItem,
  readTrpc,
  toMerchantItem,
} from './index-answers.ts';

export type ImportSource = 'bazaar' | 'x402scan';

export type ListedOrigin = {
  readonly origin: Origin;
  /** Registrable domain; the /24 or /48 of a literal address. */
  readonly domain: string;
};

/** One paid resource of a page. */
export type ImportedListing = ListedOrigin & {
  /** Path and query. */
  readonly path: string;
  /** Upper case; null if the index names none. */
  readonly method: string | null;
  /** The Bazaar's item, with this URL and method; null from x402scan. */
  readonly bazaar: MerchantItem | null;
};

export type ListingPage = {
  readonly listings: readonly ImportedListing[];
  /** Number of listings whose URL the guard refuses. */
  readonly refusedCount: number;
  /** Number of rows that were read, also of those that are not listings. */
  readonly rowCount: number;
  /** Number of rows of the whole index; null if the answer does not say. */
  readonly indexRowCount: number | null;
};

type PageRequest = {
  readonly source: ImportSource;
  /** Number of rows that were asked for. Further rows are not read. */
  readonly limit: number;
  readonly allowedPorts: readonly number[];
  readonly allowHosts: readonly string[];
};

export const LISTING_PAGE_PARSER: AnswerParser<ListingPage | null, PageRequest> = {
  module: new URL('./listing-page.ts', import.meta.url).href,
  exportName: 'readListingPage',
  parse: readListingPage,
};

/** Returns null if the answer has an unknown shape. */
export function readListingPage(answer: string, detail: PageRequest): ListingPage | null {
  const { source, limit, allowedPorts } = detail;
  const policy = { allowedPorts, allowHosts: new Set(detail.allowHosts) };
  const isBazaar = source === 'bazaar';
  const value = isBazaar ? tryParseJson(answer) : readTrpc(answer).data;
  const list = getMember(value, ['items']) ?? getMember(value, ['resources']);
  const total = getMember(value, isBazaar ? ['pagination', 'total'] : ['total_count']);
  if (!Array.isArray(list)) return null;
  const rows: readonly JsonValue[] = list.slice(0, limit);
  // Sellers write the rows, so a row of unknown shape is left out. If all rows are unknown, the index has changed.
  const items = rows
    .filter((row) => isRawItem(row))
    .filter(({ resource }) => typeof resource === 'string');
  if (items.length === 0 && rows.length > 0) return null;
  let refusedCount = 0;
  const listings = items.flatMap((row): readonly ImportedListing[] => {
    const item = toMerchantItem(row);
    const url = item.resource?.toWellFormed() ?? null;
    // MCP tools have no URL of their own, and a resource with an empty `accepts` is free. Both are left out.
    if (url === null || (row['type'] ?? 'http') !== 'http' || row.accepts?.length === 0) return [];
    const methods = [row['method'], item.method].map(
      (member) => jsonText(member)?.toUpperCase() ?? '',
    );
    const method = methods.find((name) => /^[A-Z]{1,16}$/.test(name)) ?? null;
    const located = locateListing(url, policy);
    if (located === null) {
      refusedCount += 1;
      return [];
    }
    return [{ ...located, method, bazaar: isBazaar ? { ...item, resource: url, method } : null }];
  });
  const indexRowCount = Number.isSafeInteger(total) ? Number(total) : null;
  return { listings, refusedCount, rowCount: rows.length, indexRowCount };
}

/** Splits a URL into origin, domain and path; null if the guard refuses it. */
export function locateListing(
  text: string,
  policy: OriginPolicy,
): (ListedOrigin & Pick<ImportedListing, 'path'>) | null {
  try {
    const url = validateUrl(text, policy);
    const origin = toOrigin(url);
    const path = url.pathname + url.search;
    return { origin, domain: findDomain(origin), path };
  } catch (error) {
    if (error instanceof OriginRefused) return null;
    throw error;
  }
}

/** Providers give one customer a /48 of IPv6. */
const IPV6_NETWORK_BITS = 48;

/** Private suffixes (vercel.app) count as public suffixes, so that each customer of a hosting provider has a domain. */
function findDomain({ hostname }: Origin): string {
  const version = isIP(hostname);
  if (version === 4) return hostname.replace(/\.\d+$/, '.0/24');
  if (version === 6) {
    return ipaddr.IPv6.networkAddressFromCIDR(`${hostname}/${IPV6_NETWORK_BITS}`).toString();
  }
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}
