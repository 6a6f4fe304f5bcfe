/** Merges what imports and looks find into the stored listing of an origin. */
import type { FinishedScan } from '../scans/finished-scan.ts';
import type { FoundOrigin } from './found-origins.ts';
import {
  type CensusListing,
  type CensusSource,
  isSameResource,
  isSold,
  type KnownResource,
  type ListedSign,
  listChallengedResources,
  MAX_ASKED_RESOURCES,
  MAX_KEPT_RESOURCES,
  noteAnswers,
  noteChallenges,
  type PostMode,
  rankResources,
  toKey,
} from './resources.ts';

const MAX_LISTING_BYTES = 16 * 1_024;

export type ImportFacts = {
  readonly source: CensusSource;
  readonly day: number;
  /** False if the import failed before its end. The index may still list a resource that was not found. */
  readonly isComplete: boolean;
};

export function mergeListing(
  stored: CensusListing,
  found: Pick<FoundOrigin, 'resources' | 'bazaar' | 'isBazaarCut'>,
  { source, day, isComplete }: ImportFacts,
  post: PostMode,
): CensusListing {
  const known = [...stored.resources, ...stored.candidates].map((resource): KnownResource => {
    const others = resource.sources.filter((name) => name !== source);
    const isFound = found.resources.has(toKey(resource));
    const isListed = isFound || (!isComplete && resource.sources.includes(source));
    return { ...resource, sources: isListed ? [...others, source] : others };
  });
  const knownKeys = new Set(known.map(toKey));
  const added = [...found.resources.values()]
    .filter((resource) => !knownKeys.has(toKey(resource)))
    .map((resource): KnownResource => ({ ...resource, sources: [source] }));
  const listed = [...known.filter(({ sources }) => sources.length > 0), ...added];
  const rows = source === 'bazaar' ? found : stored;
  return cutListing({
    ...stored,
    sources: { ...stored.sources, [source]: day },
    ...chooseResources(stored, listed, post),
    bazaar: rows.bazaar,
    isBazaarCut: rows.isBazaarCut,
  });
}

/** Chooses the two resources that are asked next, and the order of the others. */
export function chooseResources(
  { resources, sold }: Pick<CensusListing, 'resources' | 'sold'>,
  listed: readonly KnownResource[],
  post: PostMode,
): Pick<CensusListing, 'resources' | 'candidates'> {
  const ranked = rankResources(listed, { chosen: resources, sold, post });
  return {
    resources: ranked.slice(0, MAX_ASKED_RESOURCES),
    candidates: ranked.slice(MAX_ASKED_RESOURCES, MAX_KEPT_RESOURCES),
  };
}

type Findings = {
  readonly signs: readonly ListedSign[];
  readonly scan: FinishedScan | null;
};

/** Adds what a look or scan found. A resource that is gone gives its place to the next one. */
export function addFindings(
  listing: CensusListing,
  { signs, scan }: Findings,
  { day, post }: { readonly day: number; readonly post: PostMode },
): CensusListing {
  const challenged = scan === null ? [] : listChallengedResources(scan);
  const sold = scan?.sold ?? listing.sold;
  const listed = [...listing.resources, ...listing.candidates];
  // Rows of strangers may have left no place for the row of what the seller sells.
  const added = challenged
    .filter((resource) => listing.resources.length === 0 || isSold(resource, sold))
    .filter((resource) => !listed.some((other) => isSameResource(resource, other)))
    .map((resource): KnownResource => ({ ...resource, sources: ['scan'] }));
  const noted = noteAnswers(noteChallenges([...listed, ...added], challenged), signs, day);
  const { resources } = listing;
  return cutListing({ ...listing, sold, ...chooseResources({ resources, sold }, noted, post) });
}

/** Drops Bazaar rows, then candidates and sold operations, until the listing has at most 16 KiB. */
function cutListing(listing: CensusListing): CensusListing {
  const shortListing = {
    ...listing,
    bazaar: [...listing.bazaar],
    candidates: [...listing.candidates],
    sold: [...listing.sold],
  };
  while (Buffer.byteLength(JSON.stringify(shortListing)) > MAX_LISTING_BYTES) {
    const list = [shortListing.bazaar, shortListing.candidates, shortListing.sold].find(
      ({ length }) => length > 0,
    );
    if (list === undefined) break;
    if (list === shortListing.bazaar) shortListing.isBazaarCut = true;
    list.pop();
  }
  return shortListing;
}
