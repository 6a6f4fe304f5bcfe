/**
 * Makes the plan of the second wave: the resources, links and icons to request. It reads them from the
 * documents of the first wave. Pure; runs on a worker, because it parses what a hostile origin wrote.
 */

import type { Kit } from '../../parse/kit/kit.ts';
import type { FirstWave, PlannedResource } from './declared-requests.ts';
import { findIcons, findLinks, type IconPlan, type LinkPlan } from './find-links.ts';
import { findResources } from './find-resources.ts';

export type Plan = {
  readonly resources: readonly PlannedResource[];
  /** Number of resources that documents declare as paid. */
  readonly declared: number;
  /** Number of paid operations by methods that we do not send. */
  readonly otherMethods: number;
  /** One line for each source, such as "/openapi.json: 404". */
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

/** Number of resources that a scan probes at most. */
export const MAX_PROBED = 6;

/**
 * Chooses resources so that each method and each source is covered. Each step takes the resource that adds
 * most uncovered methods and sources. Declared resources precede candidates; ties keep document order.
 */
export function chooseResources(resources: readonly PlannedResource[]): readonly PlannedResource[] {
  const chosen: PlannedResource[] = [];
  const covered = new Set<string>();
  const remaining = [...resources];
  while (chosen.length < MAX_PROBED && remaining.length > 0) {
    const best = remaining.reduce((a, b) =>
      scoreResource(b, covered) > scoreResource(a, covered) ? b : a,
    );
    remaining.splice(remaining.indexOf(best), 1);
    chosen.push(best);
    for (const facet of listFacets(best)) covered.add(facet);
  }
  return chosen.sort((a, b) => resources.indexOf(a) - resources.indexOf(b));
}

function scoreResource(resource: PlannedResource, covered: ReadonlySet<string>): number {
  const uncovered = listFacets(resource).filter((facet) => !covered.has(facet)).length;
  return uncovered + (resource.declaredPaid ? 100 : 0);
}

function listFacets({ method, sources }: PlannedResource): readonly string[] {
  return [`method ${method ?? 'none'}`, ...sources.map((source) => `source ${source}`)];
}
