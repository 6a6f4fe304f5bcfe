/** Decides which listed resources the census may ask, and which of them it asks next. */

import type { MerchantItem } from '../../scanner/indexes/index-answers.ts';
import type { JsonObject } from '../../scanner/model/json.ts';
import { removeQuery } from '../../scanner/parse/openapi/openapi-path.ts';
import type { DeclaredSale } from '../../scanner/probe/plan/plan.ts';
import type { CensusResource } from '../../scanner/scan/scanner.ts';
import { NOT_SOLD_STATUSES, type ResourceSign } from '../scans/day-word.ts';
import type { FinishedScan } from '../scans/finished-scan.ts';

export type CensusSource = 'bazaar' | 'x402scan' | 'file';

/** A listed resource, and what it answered so far. */
export type KnownResource = CensusResource & {
  /** `scan`: a scan found that the resource is sold, and no kept row of a source lists it. */
  readonly sources: readonly (CensusSource | 'scan')[];
  readonly isChallenged?: true;
  /** The UTC day on which the resource answered 404, 405, 410 or 5xx. Absent if it has answered a challenge. */
  readonly goneDay?: number;
};

/** A scan probes at most as many resources. */
const MAX_CHALLENGED = 6;

/** The resources whose challenges a scan read. They are asked if no index lists a resource of the origin. */
export function listChallengedResources({ report }: Pick<FinishedScan, 'report'>) {
  const challenged = (report.payability ?? []).flatMap(({ method, path }) =>
    method === 'GET' || method === 'POST' ? [{ method, path } as const] : [],
  );
  return challenged.slice(0, MAX_CHALLENGED);
}

/** The value of CENSUS_POST, which decides which POSTs a look sends. */
export type PostMode = 'declared' | 'listed';

/** The answer of one resource in a look. */
export type ListedSign = ResourceSign & { readonly resource?: CensusResource };

type RankFacts = {
  /** The resources that were asked so far. */
  readonly chosen: readonly KnownResource[];
  readonly sold: readonly DeclaredSale[];
  readonly post: PostMode;
};

/**
 * The best rank goes first. A resource that has answered a challenge keeps its place. Anybody may list a resource, so
 * what the seller's documents sell precedes other rows. A resource that is gone comes back after all others that may be
 * asked.
 */
const RANKS = {
  challengedAndAsked: 0,
  challenged: 1,
  sold: 2,
  asked: 3,
  listed: 4,
  gone: 5,
  postUndeclared: 6,
} as const;

/** Sorts the resources by rank. Resources of one rank keep their order, but of gone ones the longest gone is first. */
export function rankResources(
  listed: readonly KnownResource[],
  facts: RankFacts,
): readonly KnownResource[] {
  const ranked = listed.map((resource) => ({ resource, rank: rankResource(resource, facts) }));
  return ranked
    .toSorted((a, b) => a.rank - b.rank || (a.resource.goneDay ?? 0) - (b.resource.goneDay ?? 0))
    .map(({ resource }) => resource);
}

function rankResource(resource: KnownResource, { chosen, sold, post }: RankFacts): number {
  const isAsked = chosen.some((other) => isSameResource(other, resource));
  if (resource.isChallenged) return isAsked ? RANKS.challengedAndAsked : RANKS.challenged;
  if (!mayAskResource(resource, sold, post)) return RANKS.postUndeclared;
  if (resource.goneDay !== undefined) return RANKS.gone;
  if (isSold(resource, sold)) return RANKS.sold;
  return isAsked ? RANKS.asked : RANKS.listed;
}

/** A POST may run something. It is sent if the operator allows it, the seller sells it, or a challenge answered it. */
export function mayAskResource(
  resource: KnownResource,
  sold: readonly DeclaredSale[],
  post: PostMode,
): boolean {
  if (resource.method === 'GET' || post === 'listed' || resource.isChallenged) return true;
  return isSold(resource, sold);
}

export function isSold({ method, path }: CensusResource, sold: readonly DeclaredSale[]): boolean {
  return sold.some((sale) => sale.method === method && matchesTemplate(path, sale.path));
}

/** A segment `{id}` of the template matches any segment. A query of the path may be missing in the template. */
function matchesTemplate(path: string, template: string): boolean {
  if (path === template) return true;
  if (template.includes('?')) return false;
  const segments = removeQuery(path).split('/');
  const templateSegments = template.split('/');
  return (
    segments.length === templateSegments.length &&
    templateSegments.every(
      (segment, index) => /^\{.*\}$/.test(segment) || segment === segments[index],
    )
  );
}

/**
 * Notes which resources a scan saw challenged, and what resources answered in a look. A resource that has answered a
 * challenge once is not gone after a 404.
 */
export function noteFindings(
  resources: readonly KnownResource[],
  { challenged, signs, day }: ResourceFindings,
): readonly KnownResource[] {
  return resources.map((resource) => {
    const sign = signs.find((each) => each.resource && isSameResource(each.resource, resource));
    const wasChallenged = challenged.some((other) => isSameResource(other, resource));
    const { goneDay: _, ...rest } = resource;
    if (wasChallenged || sign?.payableBy) return { ...rest, isChallenged: true };
    if (sign === undefined) return resource;
    const isGone = sign.status !== null && isGoneStatus(sign.status) && !resource.isChallenged;
    return isGone ? { ...rest, goneDay: day } : rest;
  });
}

type ResourceFindings = {
  readonly challenged: readonly CensusResource[];
  readonly signs: readonly ListedSign[];
  /** The UTC day of the findings. */
  readonly day: number;
};

function isGoneStatus(status: number): boolean {
  return NOT_SOLD_STATUSES.has(status) || status >= 500;
}

export function isSameResource(one: CensusResource, other: CensusResource): boolean {
  return one.method === other.method && one.path === other.path;
}

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
  readonly bazaar: readonly MerchantItem[];
  /** True if the Bazaar has more rows about this origin. */
  readonly isBazaarCut: boolean;
};

export const MAX_ASKED_RESOURCES = 2;
/** Limit of the asked and further resources of an origin. */
export const MAX_KEPT_RESOURCES = 20;

const NOT_LISTED: CensusListing = {
  sources: {},
  resources: [],
  candidates: [],
  sold: [],
  bazaar: [],
  isBazaarCut: false,
};

export function toListing(stored: JsonObject | null): CensusListing {
  // `mergeListing` and `addFindings` are the only writers of this document, and the store keeps it unchanged.
  return { ...NOT_LISTED, ...(stored as unknown as Partial<CensusListing> | null) };
}

export function toKey({ method, path }: CensusResource): string {
  return `${method} ${path}`;
}
