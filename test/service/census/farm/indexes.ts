/** A Bazaar and an x402scan that list the sellers page by page, and fail on days that the run names. */
import { bazaarItem, resourceRow, trpc } from '../../../scanner/indexes/recorded-answers.ts';
import {
  type StandIn,
  type StandInAnswer,
  startStandIn,
} from '../../../scanner/indexes/stand-in.ts';
import type { listingsOf } from './world.ts';

export type IndexMood = 'well' | 'busy' | 'broken';

/** Larger limits are lowered to these, as the indexes do. */
const LARGEST = { bazaar: 1_000, x402scan: 500 };

export async function startIndexes(
  listings: ReturnType<typeof listingsOf>,
  mood: () => IndexMood,
): Promise<StandIn> {
  const bazaar = listings
    .filter(({ sources }) => sources.has('bazaar'))
    .map(({ url, method }) => ({ ...bazaarItem(null), resource: url, method }));
  // Nobody can be asked there: plain http that no exception allows, a private address, no URL at all.
  const odd = ['http://plain.example/paid', 'https://10.1.2.3/paid', 'paid'].map((resource) => ({
    ...bazaarItem(null),
    resource,
  }));
  const x402scan = listings
    .filter(({ sources }) => sources.has('x402scan'))
    .map(({ url, method }) => resourceRow(url, { method }));
  let requestCount = 0;
  return startStandIn(({ pathname, searchParams }) => {
    requestCount += 1;
    const trouble = troubleOf(mood(), requestCount);
    if (trouble !== null) return trouble;
    if (pathname.endsWith('/discovery/resources')) {
      const limit = Math.min(Number(searchParams.get('limit')), LARGEST.bazaar);
      const offset = Number(searchParams.get('offset'));
      const all = [...odd, ...bazaar];
      const items = all.slice(offset, offset + limit);
      return { json: { x402Version: 2, items, pagination: { limit, offset, total: all.length } } };
    }
    const { json } = JSON.parse(searchParams.get('input') ?? '{}');
    const { page, page_size: size } = json.pagination ?? { page: 0, page_size: 0 };
    const items = x402scan.slice(page * size, (page + 1) * size);
    return { json: trpc({ items, total_count: x402scan.length, page }) };
  });
}

/** Busy: each third request has to be sent again. Broken: each second one fails. */
function troubleOf(mood: IndexMood, asked: number): StandInAnswer | null {
  if (mood === 'busy' && asked % 3 === 0) return { status: 429, retryAfter: '7', json: {} };
  if (mood === 'broken' && asked % 2 === 0) return { status: 500, json: {} };
  return null;
}
