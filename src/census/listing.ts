/** The entries of indexes about an origin. */
import { OriginRefused } from '../guard/errors.ts';
import { type Origin, type OriginPolicy, toOrigin, validateUrl } from '../guard/origin.ts';
import type { MerchantItem } from '../indexes/index-answers.ts';
import type { ImportedListing } from '../indexes/listing-page.ts';
import { registrableDomain } from '../limits/origin-turns.ts';
import type { JsonObject } from '../model/json.ts';
import type { CensusResource } from '../scan/scanner.ts';

export const CENSUS_SOURCES = ['bazaar', 'x402scan', 'file'] as const;
export type CensusSource = (typeof CENSUS_SOURCES)[number];

/** A resource, and who named it: a source, or the first scan of an origin that is listed without a path. */
export type NamedResource = CensusResource & { readonly source: CensusSource | 'scan' };

/** Stored with the origin. */
export type CensusListing = {
  /** The last UTC day on which each source had the origin. */
  readonly sources: Readonly<Partial<Record<CensusSource, number>>>;
  /** At most two; the same two while they are listed. */
  readonly resources: readonly NamedResource[];
  /** Rows of the Bazaar about this origin. */
  readonly bazaar: readonly MerchantItem[];
};

/** The entries of one import about an origin. */
export type FoundOrigin = {
  readonly origin: Origin;
  readonly domain: string;
  readonly resources: CensusResource[];
  readonly bazaar: MerchantItem[];
};

export const MAX_RESOURCES = 2;
/** Beyond these an origin's listings are not read. */
const MAX_FOUND = 100;
const MAX_BAZAAR_ROWS = 20;
/** A part of a path that a buyer fills in: an unpaid request cannot make up its value. */
const PLACEHOLDER = /\/:\w|[{}]|%7b|%7d/i;

const NOT_LISTED: CensusListing = { sources: {}, resources: [], bazaar: [] };

export function toListing(stored: JsonObject | null): CensusListing {
  // `mergeListing` is the only writer of this document, and the store keeps it unchanged.
  return stored === null ? NOT_LISTED : (stored as unknown as CensusListing);
}

/** The origins of an import, by host. `refused` counts listings whose URL the guard refuses. */
export class FoundOrigins {
  readonly byHost = new Map<string, FoundOrigin>();
  readonly #policy: OriginPolicy;
  refused = 0;

  constructor(policy: OriginPolicy) {
    this.#policy = policy;
  }

  /** Adds what a page lists. */
  async add(listings: readonly ImportedListing[]): Promise<void> {
    for (const listing of listings) {
      const url = this.#parseUrl(listing.url);
      if (url === null) continue;
      const found = await this.#findOrAdd(toOrigin(url));
      const path = `${url.pathname}${url.search}`;
      const method = (listing.method ?? 'GET').toUpperCase();
      const isAsked = method === 'GET' || method === 'POST';
      if (isAsked && !PLACEHOLDER.test(path)) push(found.resources, { method, path }, MAX_FOUND);
      if (listing.bazaar !== null) push(found.bazaar, listing.bazaar, MAX_BAZAAR_ROWS);
    }
  }

  /** Adds a line of a file: an origin, or the URL of a paid GET. */
  async addLine(line: string): Promise<void> {
    const url = this.#parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(line) ? line : `https://${line}`);
    if (url === null) return;
    const found = await this.#findOrAdd(toOrigin(url));
    const path = `${url.pathname}${url.search}`;
    if (path !== '/') push(found.resources, { method: 'GET', path }, MAX_FOUND);
  }

  #parseUrl(text: string): URL | null {
    try {
      return validateUrl(text, this.#policy);
    } catch (error) {
      if (!(error instanceof OriginRefused)) throw error;
      this.refused += 1;
      return null;
    }
  }

  async #findOrAdd(origin: Origin): Promise<FoundOrigin> {
    const known = this.byHost.get(origin.host);
    if (known !== undefined) return known;
    const domain = await registrableDomain(origin);
    const found: FoundOrigin = { origin, domain, resources: [], bazaar: [] };
    this.byHost.set(origin.host, found);
    return found;
  }
}

function push<Item>(items: Item[], item: Item, max: number): void {
  if (items.length < max) items.push(item);
}

export type ImportFacts = {
  readonly source: CensusSource;
  readonly day: number;
  /** False: the import broke off, so what it lacks may still be listed. */
  readonly isComplete: boolean;
};

/** Merges what an import found into what is known of an origin. */
export function mergeListing(
  known: CensusListing,
  { resources: found, bazaar }: FoundOrigin,
  { source, day, isComplete }: ImportFacts,
): CensusListing {
  const kept = known.resources.filter(
    (one) => one.source !== source || !isComplete || found.some((other) => isSame(one, other)),
  );
  const resources: NamedResource[] = [...kept];
  for (const resource of found) {
    if (resources.length === MAX_RESOURCES) break;
    if (!resources.some((one) => isSame(one, resource))) resources.push({ ...resource, source });
  }
  return {
    sources: { ...known.sources, [source]: day },
    resources: resources.slice(0, MAX_RESOURCES),
    bazaar: source === 'bazaar' ? bazaar : known.bazaar,
  };
}

function isSame(one: CensusResource, other: CensusResource): boolean {
  return one.method === other.method && one.path === other.path;
}
