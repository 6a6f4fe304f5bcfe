/** Reads the pages of whole indexes. Workers run this file for long pages, so it imports nothing that sends requests. */
import { type AnswerParser, tryParseJson } from '../answers/answer-reader.ts';
import { jsonText } from '../parse/json/json.ts';
import { getMember, isItem, type MerchantItem, readTrpc, toMerchantItem } from './index-answers.ts';

export type ImportSource = 'bazaar' | 'x402scan';

/** One paid resource of a page. */
export type ImportedListing = {
  /** The text of the index, at most 2,048 characters. It is not always a valid URL. */
  readonly url: string;
  /** Upper case; null if the index names none. */
  readonly method: string | null;
  /** The Bazaar's item, with this URL and method; null from x402scan. */
  readonly bazaar: MerchantItem | null;
};

export type ListingPage = {
  readonly listings: readonly ImportedListing[];
  /** Number of rows, including those that are not listings. */
  readonly size: number;
  /** Number of rows of the whole index; null if the answer does not say. */
  readonly total: number | null;
};

type Detail = { readonly source: ImportSource };

export const LISTING_PAGE_PARSER: AnswerParser<ListingPage | null, Detail> = {
  module: import.meta.url,
  exportName: 'readListingPage',
  parse: readListingPage,
};

/** Returns null if the answer has an unknown shape. */
export function readListingPage(answer: string, { source }: Detail): ListingPage | null {
  const isBazaar = source === 'bazaar';
  const value = isBazaar ? tryParseJson(answer) : readTrpc(answer).data;
  const rows = getMember(value, ['items']) ?? getMember(value, ['resources']);
  const total = getMember(value, isBazaar ? ['pagination', 'total'] : ['total_count']);
  if (!Array.isArray(rows)) return null;
  // Sellers write the rows, so a row of unknown shape is left out. If all rows are unknown, the index has changed.
  const items = rows
    .filter((row) => isItem(row))
    .filter(({ resource }) => typeof resource === 'string');
  if (items.length === 0 && rows.length > 0) return null;
  const listings = items.flatMap((row): readonly ImportedListing[] => {
    const item = toMerchantItem(row);
    const url = item.resource?.toWellFormed() ?? null;
    // MCP tools have no URL of their own, and a resource with an empty `accepts` is free. Both are left out.
    if (url === null || (row['type'] ?? 'http') !== 'http' || row.accepts?.length === 0) return [];
    const methods = [row['method'], item.method].map((one) => jsonText(one)?.toUpperCase() ?? '');
    const method = methods.find((one) => /^[A-Z]{1,16}$/.test(one)) ?? null;
    return [{ url, method, bazaar: isBazaar ? { ...item, resource: url, method } : null }];
  });
  return { listings, size: rows.length, total: Number.isSafeInteger(total) ? Number(total) : null };
}
