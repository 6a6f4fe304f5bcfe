/**
 * The plan of the second wave: which resources, links and icons to ask for, read off the documents
 * of the first. Pure; runs on a worker, because it parses what a hostile origin wrote.
 */

import type { Kit } from '../../parse/kit/kit.ts';
import type { FirstWave, PlannedResource } from './declared-requests.ts';
import { findIcons, findLinks, type IconPlan, type LinkPlan } from './find-links.ts';
import { findResources } from './find-resources.ts';

export type Plan = {
  readonly resources: readonly PlannedResource[];
  readonly declared: number;
  readonly otherMethods: number;
  readonly looked: readonly string[];
  /** Other origins that serve the paid operations of the OpenAPI document. */
  readonly elsewhere: readonly string[];
  readonly links: LinkPlan;
  readonly icons: IconPlan;
};

export function makePlan(seen: FirstWave, kit: Kit): Plan {
  const candidates = findResources(seen, kit);
  return {
    resources: chooseResources(candidates.resources),
    declared: candidates.resources.filter((resource) => resource.declaredPaid).length,
    otherMethods: candidates.otherMethods,
    looked: candidates.looked,
    elsewhere: candidates.elsewhere,
    links: findLinks(seen, kit),
    icons: findIcons(seen, kit),
  };
}

/** Chosen so that each method and each source is among them. */
export const MAX_PROBED = 6;

/**
 * Greedy cover: at each step the resource that adds most methods and sources not yet covered,
 * declared ones before candidates, document order among equals. Deterministic.
 */
export function chooseResources(resources: readonly PlannedResource[]): readonly PlannedResource[] {
  const chosen: PlannedResource[] = [];
  const covered = new Set<string>();
  const left = [...resources];
  while (chosen.length < MAX_PROBED && left.length > 0) {
    const best = left.reduce((a, b) => (worth(b, covered) > worth(a, covered) ? b : a));
    left.splice(left.indexOf(best), 1);
    chosen.push(best);
    for (const facet of facets(best)) covered.add(facet);
  }
  return chosen.sort((a, b) => resources.indexOf(a) - resources.indexOf(b));
}

function worth(resource: PlannedResource, covered: ReadonlySet<string>): number {
  const fresh = facets(resource).filter((facet) => !covered.has(facet)).length;
  return fresh + (resource.declaredPaid ? 100 : 0);
}

function facets({ method, sources }: PlannedResource): readonly string[] {
  return [`method ${method ?? 'none'}`, ...sources.map((source) => `source ${source}`)];
}
