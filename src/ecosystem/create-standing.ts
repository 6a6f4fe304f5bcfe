/** The third parties behind the standing checks, as the prober asks them. */

import type { IndexedOrigin, ListingFacts, Look } from '../model/observations.ts';
import type { Standing } from '../model/standing.ts';
import type { Origin } from '../origin/origin.ts';
import { type AnswerShelf, createAnswerShelf, type SnapshotShelf } from './answer-shelf.ts';
import type { Asking } from './ask.ts';
import { LOOK_TIMEOUT_MS, startDeadline } from './deadline.ts';
import { askPartners, type Partner } from './ecosystem-listing.ts';
import type { EcosystemOptions } from './ecosystem-options.ts';
import { isIndexRow, isPartners, isVerified } from './kept-shapes.ts';
import { partnerOf } from './partner-of.ts';
import { settlementLook } from './settlement-look.ts';
import { settlementSources } from './settlement-sources.ts';
import { x402scanOrigin, x402scanVerified } from './x402scan.ts';

export type RefreshingStanding = Standing & {
  /** Asks for the listing anew once it is half a day old, so that scans find it. Never rejects. */
  refreshListing(): Promise<Look<readonly Partner[]>>;
};

const HOUR_MS = 3_600_000;
const INDEX_CACHE_MS = HOUR_MS;
const LISTING_CACHE_MS = 24 * HOUR_MS;
const SWITCHED_OFF = { state: 'off', why: 'switched-off' } as const;

/** `timeoutMs`: how long each of the two looks of a scan may take, whoever is asked and how often. */
export function createStanding(
  settings: EcosystemOptions,
  snapshots: SnapshotShelf,
  timeoutMs = LOOK_TIMEOUT_MS,
): RefreshingStanding {
  const { x402scanUrl, ecosystemUrl, userAgent } = settings;
  const shelf = createAnswerShelf(snapshots);
  const sources = settlementSources(settings);
  const startAsking = (): Asking => ({ deadline: startDeadline(timeoutMs), userAgent });

  async function partners(cacheMs: number, asking: Asking): Promise<Look<readonly Partner[]>> {
    if (ecosystemUrl === null) return SWITCHED_OFF;
    return shelf.look({
      source: 'x402.org listing',
      key: ecosystemUrl,
      cacheMs,
      isAnswer: isPartners,
      ask: () => askPartners(ecosystemUrl, asking),
    });
  }

  return {
    origin: async (origin) => {
      const asking = startAsking();
      const [x402scan, listed] = await Promise.all([
        x402scanUrl === null ? SWITCHED_OFF : indexed(origin, x402scanUrl, shelf, asking),
        partners(LISTING_CACHE_MS, asking),
      ]);
      return { x402scan, listing: listing(origin, listed) };
    },
    settlements: (origin, payees) => settlementLook(sources, origin, payees, shelf, startAsking()),
    refreshListing: () => partners(LISTING_CACHE_MS / 2, startAsking()),
  };
}

/** Two questions, the second with the answer to the first, within one limit of time. */
async function indexed(
  origin: Origin,
  base: string,
  shelf: AnswerShelf,
  asking: Asking,
): Promise<Look<IndexedOrigin>> {
  const source = 'x402scan';
  const row = await shelf.look({
    source,
    key: `${base} origin ${origin.url}`,
    cacheMs: INDEX_CACHE_MS,
    isAnswer: isIndexRow,
    ask: () => x402scanOrigin(base, origin, asking),
  });
  if (row.state !== 'seen') return row;
  const { id, resources } = row.data;
  if (id === null) return { ...row, data: { resources, ownershipVerified: null } };
  const verified = await shelf.look({
    source,
    key: `${base} verified ${id}`,
    cacheMs: INDEX_CACHE_MS,
    isAnswer: isVerified,
    ask: () => x402scanVerified(base, id, asking),
  });
  const ownershipVerified = verified.state === 'seen' ? verified.data : null;
  return { ...row, data: { resources, ownershipVerified } };
}

function listing(origin: Origin, look: Look<readonly Partner[]>): Look<ListingFacts> {
  return look.state === 'seen' ? { ...look, data: partnerOf(origin, look.data) } : look;
}
