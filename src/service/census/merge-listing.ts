/** Collects what an import finds about origins, and merges what imports and looks find into the stored listings. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OriginPolicy } from '../../scanner/guard/origin.ts';
import type { MerchantItem } from '../../scanner/indexes/index-answers.ts';
import {
  type ImportedListing,
  type ListedOrigin,
  type ListingPage,
  locateListing,
} from '../../scanner/indexes/listing-page.ts';
import type { CensusResource } from '../../scanner/scan/scanner.ts';
import type { CensusLookResult } from './census-look.ts';
import {
  type CensusListing,
  type CensusSource,
  isSameResource,
  isSold,
  type KnownResource,
  listChallengedResources,
  MAX_ASKED_RESOURCES,
  MAX_KEPT_RESOURCES,
  noteFindings,
  type PostMode,
  rankResources,
  toKey,
} from './resources.ts';

export type FoundOrigin = ListedOrigin & {
  /** By method and path. */
  readonly resources: Map<string, CensusResource>;
  readonly bazaar: MerchantItem[];
  isBazaarCut: boolean;
};

const MAX_BAZAAR_ROWS = 20;
/** Limit of hosts that are taken from one import. */
export const MAX_HOSTS = 50_000;
const ROWS_PER_TURN = 100;
/** A part of a path that the buyer fills in, like `/:city` or `{city}`. The census knows no value for it. */
const PLACEHOLDER = /\/:\w|[{}]|%7b|%7d/i;

/** Ranks a resource by one digit. More digits would not sort as text. */
export type RankRow = (resource: CensusResource) => number;

export type FoundOriginsOptions = {
  readonly policy: OriginPolicy;
  /** Orders the resources of a host that has more rows than are kept. By default, the texts themselves are compared. */
  readonly keyedHash?: ((text: string) => string) | undefined;
  /** Returns a function that ranks the resources of a host. The lowest ranks are kept. By default, all ranks are 0. */
  readonly readRanks?: ((host: string) => Promise<RankRow>) | undefined;
};

export class FoundOrigins {
  readonly byHost = new Map<string, FoundOrigin>();
  readonly #options: FoundOriginsOptions;
  /** The order of each resource by its key. Only hosts with more rows than are kept have an entry. */
  readonly #ordersByHost = new Map<
    string,
    { readonly rank: RankRow; readonly orders: Map<string, string> }
  >();
  /** Number of listings whose URL the guard refuses. */
  refusedCount = 0;
  /** Number of rows of hosts beyond the limit of an import. */
  overflowCount = 0;

  constructor(options: FoundOriginsOptions) {
    this.#options = options;
  }

  /** Adds the listings of one page of an index. Other requests are served every 100 rows. */
  async add(page: Pick<ListingPage, 'listings' | 'refusedCount'>): Promise<void> {
    this.refusedCount += page.refusedCount;
    for (const [index, listing] of page.listings.entries()) {
      if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await nextTurn();
      await this.#addListing(listing);
    }
  }

  /** Adds a line of a file: an origin, or the URL of a paid resource that answers GET. */
  async addLine(line: string): Promise<void> {
    const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(line) ? line : `https://${line}`;
    const located = locateListing(url, this.#options.policy);
    if (located === null) this.refusedCount += 1;
    else if (located.path === '/') this.#findOrAdd(located);
    else await this.#addListing({ ...located, method: 'GET', bazaar: null });
  }

  async #addListing({ path, bazaar, ...listing }: ImportedListing): Promise<void> {
    const found = this.#findOrAdd(listing);
    if (found === null) return;
    const method = listing.method ?? 'GET';
    if ((method === 'GET' || method === 'POST') && !PLACEHOLDER.test(path))
      await this.#addResource(found, { method, path });
    if (bazaar === null) return;
    if (found.bazaar.length < MAX_BAZAAR_ROWS) found.bazaar.push(bazaar);
    else found.isBazaarCut = true;
  }

  #findOrAdd({ origin, domain }: ListedOrigin): FoundOrigin | null {
    const earlier = this.byHost.get(origin.host);
    if (earlier !== undefined) return earlier;
    if (this.byHost.size >= MAX_HOSTS) {
      this.overflowCount += 1;
      return null;
    }
    const found = { origin, domain, resources: new Map(), bazaar: [], isBazaarCut: false };
    this.byHost.set(origin.host, found);
    return found;
  }

  /** Keeps at most 20 resources: those with the lowest rank and, if ranks are equal, with the lowest hash. */
  async #addResource(found: FoundOrigin, resource: CensusResource): Promise<void> {
    const { resources } = found;
    resources.set(toKey(resource), resource);
    if (resources.size <= MAX_KEPT_RESOURCES) return;
    const orders = await this.#findOrders(found);
    const orderOf = (key: string) => orders.get(key) ?? '';
    const last = [...resources.keys()].reduce((a, b) => (orderOf(b) > orderOf(a) ? b : a));
    resources.delete(last);
    orders.delete(last);
  }

  /** Computes the order of each resource once. */
  async #findOrders({ origin: { host }, resources }: FoundOrigin): Promise<Map<string, string>> {
    const { keyedHash = (text: string) => text, readRanks } = this.#options;
    const earlier = this.#ordersByHost.get(host);
    const rank = earlier?.rank ?? (await readRanks?.(host)) ?? (() => 0);
    const orders = earlier?.orders ?? new Map<string, string>();
    if (earlier === undefined) this.#ordersByHost.set(host, { rank, orders });
    for (const [key, resource] of resources) {
      if (!orders.has(key)) orders.set(key, `${rank(resource)} ${keyedHash(`row ${host} ${key}`)}`);
    }
    return orders;
  }
}

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

/** Adds what a look or scan found. A resource that is gone gives its place to the next one. */
export function addFindings(
  listing: CensusListing,
  { signs, scan }: Pick<CensusLookResult, 'signs' | 'scan'>,
  { day, post }: { readonly day: number; readonly post: PostMode },
): CensusListing {
  const challenged = scan === null ? [] : listChallengedResources(scan);
  const sold = scan?.sold ?? listing.sold;
  const listed = [...listing.resources, ...listing.candidates];
  // Sold resources are added, because rows of strangers may have taken their place in the listing.
  const added = challenged
    .filter((resource) => listing.resources.length === 0 || isSold(resource, sold))
    .filter((resource) => !listed.some((other) => isSameResource(resource, other)))
    .map((resource): KnownResource => ({ ...resource, sources: ['scan'] }));
  const noted = noteFindings([...listed, ...added], { challenged, signs, day });
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
