/** Pages of whole indexes, and what an import keeps of them. It imports nothing that asks: a worker reads long pages. */
import { type AnswerParser, tryParseJson } from '../answers/answer-reader.ts';
import { jsonText } from '../parse/json/json.ts';
import { isItem, type MerchantItem, memberAt, toMerchantItem, trpcData } from './index-answers.ts';

export type ImportSource = 'bazaar' | 'x402scan';

/** One paid resource of a page. */
export type ImportedListing = {
  /** The text of the index, at most 2,048 characters, perhaps not a URL. */
  readonly url: string;
  /** Upper case; null if the index names none. */
  readonly method: string | null;
  /** The Bazaar's item, with this URL and method; null from x402scan. */
  readonly bazaar: MerchantItem | null;
};

export type ListingPage = {
  readonly listings: readonly ImportedListing[];
  /** Number of rows, some of which may not be listings. */
  readonly size: number;
  /** Rows of the whole index; null if the answer does not say. */
  readonly total: number | null;
};

type Detail = { readonly source: ImportSource };

export const LISTINGS: AnswerParser<ListingPage | null, Detail> = {
  module: import.meta.url,
  exportName: 'readListingPage',
  parse: readListingPage,
};

/** Null if the answer has an unknown shape. */
export function readListingPage(answer: string, { source }: Detail): ListingPage | null {
  const isBazaar = source === 'bazaar';
  const value = isBazaar ? tryParseJson(answer) : trpcData(answer).data;
  const rows = memberAt(value, ['items']) ?? memberAt(value, ['resources']);
  const total = memberAt(value, isBazaar ? ['pagination', 'total'] : ['total_count']);
  if (!Array.isArray(rows)) return null;
  // Sellers write rows, so an odd one is left out; if none is known, the index has changed.
  const known = rows
    .filter((row) => isItem(row))
    .filter(({ resource }) => typeof resource === 'string');
  if (known.length === 0 && rows.length > 0) return null;
  const listings = known.flatMap((row): readonly ImportedListing[] => {
    const item = toMerchantItem(row);
    const url = item.resource?.toWellFormed() ?? null;
    // MCP tools are not asked by a URL of their own, and a resource that accepts nothing is free.
    if (url === null || (row['type'] ?? 'http') !== 'http' || row.accepts?.length === 0) return [];
    const named = [row['method'], item.method].map((one) => jsonText(one)?.toUpperCase() ?? '');
    const method = named.find((one) => /^[A-Z]{1,16}$/.test(one)) ?? null;
    return [{ url, method, bazaar: isBazaar ? { ...item, resource: url, method } : null }];
  });
  return { listings, size: rows.length, total: Number.isSafeInteger(total) ? Number(total) : null };
}
