/** Merges what indexes list about an origin, and keeps the two resources that the census asks. */
import { OriginRefused } from '../guard/errors.ts';
import { type Origin, type OriginPolicy, toOrigin, validateUrl } from '../guard/origin.ts';
import type { MerchantItem } from '../indexes/index-answers.ts';
import type { ImportedListing } from '../indexes/listing-page.ts';
import { registrableDomain } from '../limits/origin-turns.ts';
import type { JsonObject } from '../model/json.ts';
import type { CensusResource } from '../scan/scanner.ts';

export const CENSUS_SOURCES = ['bazaar', 'x402scan', 'file'] as const;
export type CensusSource = (typeof CENSUS_SOURCES)[number];

/** `scan`: a scan found the resource, because no source lists a resource of the origin. */
export type NamedResource = CensusResource & { readonly source: CensusSource | 'scan' };

/** The stored listing of an origin, from all sources. */
export type CensusListing = {
  /** By source: the last UTC day on which it listed the origin. */
  readonly sources: Readonly<Partial<Record<CensusSource, number>>>;
  /** At most two. A resource stays while its source lists it. */
  readonly resources: readonly NamedResource[];
  /** Rows of the Bazaar about this origin. */
  readonly bazaar: readonly MerchantItem[];
};

/** The listing of an origin in one import. */
export type FoundOrigin = {
  readonly origin: Origin;
  readonly domain: string;
  readonly resources: CensusResource[];
  readonly bazaar: MerchantItem[];
};

export const MAX_RESOURCES = 2;
const MAX_RESOURCES_READ = 100;
const MAX_BAZAAR_ROWS = 20;
/** A part of a path that the buyer fills in, like `/:city` or `{city}`. The census knows no value for it. */
const PLACEHOLDER = /\/:\w|[{}]|%7b|%7d/i;

const NOT_LISTED: CensusListing = { sources: {}, resources: [], bazaar: [] };

export function toListing(stored: JsonObject | null): CensusListing {
  // `mergeListing` is the only writer of this document, and the store keeps it unchanged.
  return stored === null ? NOT_LISTED : (stored as unknown as CensusListing);
}

/** The origins of an import. */
export class FoundOrigins {
  readonly byHost = new Map<string, FoundOrigin>();
  readonly #policy: OriginPolicy;
  /** Number of listings whose URL the guard refuses. */
  refusedCount = 0;

  constructor(policy: OriginPolicy) {
    this.#policy = policy;
  }

  /** Adds the listings of one page of an index. */
  async add(listings: readonly ImportedListing[]): Promise<void> {
    for (const listing of listings) {
      const url = this.#parseUrl(listing.url);
      if (url === null) continue;
      const found = await this.#findOrAdd(toOrigin(url));
      const path = `${url.pathname}${url.search}`;
      const method = (listing.method ?? 'GET').toUpperCase();
      const canAsk = method === 'GET' || method === 'POST';
      if (canAsk && !PLACEHOLDER.test(path))
        pushMax(found.resources, { method, path }, MAX_RESOURCES_READ);
      if (listing.bazaar !== null) pushMax(found.bazaar, listing.bazaar, MAX_BAZAAR_ROWS);
    }
  }

  /** Adds a line of a file: an origin, or the URL of a paid resource that answers GET. */
  async addLine(line: string): Promise<void> {
    const url = this.#parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(line) ? line : `https://${line}`);
    if (url === null) return;
    const found = await this.#findOrAdd(toOrigin(url));
    const path = `${url.pathname}${url.search}`;
    if (path !== '/') pushMax(found.resources, { method: 'GET', path }, MAX_RESOURCES_READ);
  }

  #parseUrl(text: string): URL | null {
    try {
      return validateUrl(text, this.#policy);
    } catch (error) {
      if (!(error instanceof OriginRefused)) throw error;
      this.refusedCount += 1;
      return null;
    }
  }

  async #findOrAdd(origin: Origin): Promise<FoundOrigin> {
    const earlier = this.byHost.get(origin.host);
    if (earlier !== undefined) return earlier;
    const domain = await registrableDomain(origin);
    const found: FoundOrigin = { origin, domain, resources: [], bazaar: [] };
    this.byHost.set(origin.host, found);
    return found;
  }
}

function pushMax<Item>(items: Item[], item: Item, max: number): void {
  if (items.length < max) items.push(item);
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
  { resources: found, bazaar }: FoundOrigin,
  { source, day, isComplete }: ImportFacts,
): CensusListing {
  const resources: NamedResource[] = stored.resources.filter(
    (one) =>
      one.source !== source || !isComplete || found.some((other) => isSameResource(one, other)),
  );
  for (const resource of found) {
    if (resources.length === MAX_RESOURCES) break;
    if (!resources.some((one) => isSameResource(one, resource)))
      resources.push({ ...resource, source });
  }
  return {
    sources: { ...stored.sources, [source]: day },
    resources: resources.slice(0, MAX_RESOURCES),
    bazaar: source === 'bazaar' ? bazaar : stored.bazaar,
  };
}

function isSameResource(one: CensusResource, other: CensusResource): boolean {
  return one.method === other.method && one.path === other.path;
}
