/** Merges what indexes list about an origin, and keeps the resources that the census asks. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Origin, OriginPolicy } from '../guard/origin.ts';
import type { MerchantItem } from '../indexes/index-answers.ts';
import {
  type ImportedListing,
  type ListedOrigin,
  type ListingPage,
  locateListing,
} from '../indexes/listing-page.ts';
import type { JsonObject } from '../model/json.ts';
import type { DeclaredSale } from '../probe/plan/plan.ts';
import type { FinishedScan } from '../scan/finished-scan.ts';
import type { CensusResource } from '../scan/scanner.ts';
import {
  type CensusSource,
  findChallenged,
  type KnownResource,
  type ListedSign,
  noteAnswers,
  noteChallenges,
  type PostMode,
  rankResources,
} from './resources.ts';

/** The stored listing of an origin, from all sources. It has at most 16 KiB. */
export type CensusListing = {
  /** By source: the last UTC day on which it listed the origin. */
  readonly sources: Readonly<Partial<Record<CensusSource, number>>>;
  /** The resources that are asked, at most two. */
  readonly resources: readonly KnownResource[];
  /** Further listed resources, the next one first. */
  readonly candidates: readonly KnownResource[];
  /** The operations that the seller's documents sell, as the last full scan read them. */
  readonly sold: readonly DeclaredSale[];
  /** Rows of the Bazaar about this origin. */
  readonly bazaar: readonly MerchantItem[];
  /** True if the Bazaar has more rows about this origin. */
  readonly isBazaarCut: boolean;
};

/** The listing of an origin in one import. */
export type FoundOrigin = ListedOrigin & {
  /** By method and path. */
  readonly resources: Map<string, CensusResource>;
  readonly bazaar: MerchantItem[];
  isBazaarCut: boolean;
};

export const MAX_RESOURCES = 2;
/** Asked and further resources of an origin. */
const MAX_KEPT_RESOURCES = 20;
const MAX_BAZAAR_ROWS = 20;
const MAX_LISTING_BYTES = 16 * 1_024;
/** More hosts are not taken from one import. */
export const MAX_HOSTS = 50_000;
const ROWS_PER_TURN = 100;
/** A part of a path that the buyer fills in, like `/:city` or `{city}`. The census knows no value for it. */
const PLACEHOLDER = /\/:\w|[{}]|%7b|%7d/i;

const NOT_LISTED: CensusListing = {
  sources: {},
  resources: [],
  candidates: [],
  sold: [],
  bazaar: [],
  isBazaarCut: false,
};

export function toListing(stored: JsonObject | null): CensusListing {
  // This module is the only writer of this document, and the store keeps it unchanged.
  return { ...NOT_LISTED, ...(stored as unknown as Partial<CensusListing> | null) };
}

export type FoundOriginsOptions = {
  readonly policy: OriginPolicy;
  /** Orders the resources of a host that has more rows than are kept. */
  readonly keyedHash?: (text: string) => string;
  /** Returns a function that is true for the resources of a host that are kept whatever their hash. */
  readonly readKept?: (host: string) => Promise<(resource: CensusResource) => boolean>;
};

/** The origins of an import. */
export class FoundOrigins {
  readonly byHost = new Map<string, FoundOrigin>();
  readonly #options: FoundOriginsOptions;
  readonly #keptOfHosts = new Map<string, (resource: CensusResource) => boolean>();
  /** Number of listings whose URL the guard refuses. */
  refusedCount = 0;
  /** Number of rows of hosts beyond the limit of an import. */
  overflowCount = 0;

  constructor(options: FoundOriginsOptions) {
    this.#options = options;
  }

  /** Adds the listings of one page of an index. Other requests are served every 100 rows. */
  async add({ listings, refused }: Pick<ListingPage, 'listings' | 'refused'>): Promise<void> {
    this.refusedCount += refused;
    for (const [index, listing] of listings.entries()) {
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

  /** All rows are read. Of more than 20 resources, those are kept that the caller names, and those with the lowest hash. */
  async #addResource(found: FoundOrigin, resource: CensusResource): Promise<void> {
    const { keyedHash = (text: string) => text, readKept } = this.#options;
    const { resources, origin } = found;
    resources.set(toKey(resource), resource);
    if (resources.size <= MAX_KEPT_RESOURCES) return;
    const isKept = await this.#findKept(origin, readKept);
    const orderOf = ([key, one]: readonly [string, CensusResource]) =>
      `${isKept(one) ? 0 : 1} ${keyedHash(`row ${origin.host} ${key}`)}`;
    const last = [...resources].reduce((a, b) => (orderOf(b) > orderOf(a) ? b : a));
    resources.delete(last[0]);
  }

  async #findKept({ host }: Origin, readKept: FoundOriginsOptions['readKept']) {
    const known = this.#keptOfHosts.get(host);
    if (known !== undefined) return known;
    const isKept = (await readKept?.(host)) ?? (() => false);
    this.#keptOfHosts.set(host, isKept);
    return isKept;
  }
}

export type ImportFacts = {
  readonly source: CensusSource;
  readonly day: number;
  /** False if the import failed before its end. The index may still list a resource that was not found. */
  readonly isComplete: boolean;
};

/** Merges what an import found about an origin into its stored listing. */
export function mergeListing(
  stored: CensusListing,
  found: Pick<FoundOrigin, 'resources' | 'bazaar' | 'isBazaarCut'>,
  { source, day, isComplete }: ImportFacts,
  post: PostMode,
): CensusListing {
  const known = [...stored.resources, ...stored.candidates].map((one): KnownResource => {
    const others = one.sources.filter((name) => name !== source);
    const isListed = found.resources.has(toKey(one)) || !isComplete;
    const wasListed = others.length < one.sources.length;
    const stays = found.resources.has(toKey(one)) || (isListed && wasListed);
    return { ...one, sources: stays ? [...others, source] : others };
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
  const ranked = rankResources(listed, { asked: resources, sold, post });
  return {
    resources: ranked.slice(0, MAX_RESOURCES),
    candidates: ranked.slice(MAX_RESOURCES, MAX_KEPT_RESOURCES),
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
  const challenged = scan === null ? [] : findChallenged(scan);
  const isListed = listing.resources.length > 0;
  const known = isListed
    ? [...listing.resources, ...listing.candidates]
    : challenged.map((one): KnownResource => ({ ...one, sources: ['scan'] }));
  const sold = scan?.sold ?? listing.sold;
  const noted = noteAnswers(noteChallenges(known, challenged), signs, day);
  const { resources } = listing;
  return cutListing({ ...listing, sold, ...chooseResources({ resources, sold }, noted, post) });
}

/** Drops Bazaar rows, then candidates and sold operations, until the listing has at most 16 KiB. */
export function cutListing(listing: CensusListing): CensusListing {
  const cut = {
    ...listing,
    bazaar: [...listing.bazaar],
    candidates: [...listing.candidates],
    sold: [...listing.sold],
  };
  while (Buffer.byteLength(JSON.stringify(cut)) > MAX_LISTING_BYTES) {
    const list = [cut.bazaar, cut.candidates, cut.sold].find(({ length }) => length > 0);
    if (list === undefined) break;
    if (list === cut.bazaar) cut.isBazaarCut = true;
    list.pop();
  }
  return cut;
}

export function toKey({ method, path }: CensusResource): string {
  return `${method} ${path}`;
}
