/**
 * Makes the plan of the second wave: the resources, links and icons to request. It reads them from the
 * documents of the first wave. Pure; runs on a worker, because it parses what a hostile origin wrote.
 */

import type { UnsentRequest } from '../../model/observations.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { FirstWave, PlannedResource } from './declared-requests.ts';
import { findIcons, type IconPlan } from './find-icons.ts';
import { findLinks, type LinkPlan } from './find-links.ts';
import { findResources } from './find-resources.ts';
import { findUnread } from './find-unread.ts';

/** `path` is a template of OpenAPI ("/users/{id}"), or a path with its query. */
export type DeclaredSale = { readonly method: 'GET' | 'POST'; readonly path: string };

export type Plan = {
  readonly resources: readonly PlannedResource[];
  /** Number of resources that documents declare as paid. */
  readonly declared: number;
  /** The operations that OpenAPI and manifest sell by GET and POST, probed or not. */
  readonly sold: readonly DeclaredSale[];
  /** Number of paid operations by methods that we do not send. */
  readonly otherMethods: number;
  /** One line for each source, such as "/openapi.json: 404". */
  readonly looked: readonly string[];
  /** Other origins that serve the paid operations of the OpenAPI document. */
  readonly elsewhere: readonly string[];
  /** Documents that may declare paid paths, and could not be read: "/openapi.json: 429". */
  readonly unread: readonly string[];
  /** Requests by POST, PUT or other methods that only an index, the root or llms.txt names. They are not sent. */
  readonly unsent: readonly UnsentRequest[];
  readonly links: LinkPlan;
  readonly icons: IconPlan;
};

export function makePlan(wave: FirstWave, kit: Kit): Plan {
  const { resources, ...otherFindings } = findResources(wave, kit);
  return {
    resources: chooseResources(resources),
    declared: resources.filter((resource) => resource.declaredPaid).length,
    sold: findSold(resources),
    ...otherFindings,
    unread: findUnread(wave, kit),
    links: findLinks(wave, kit),
    icons: findIcons(wave, kit),
  };
}

const MAX_SOLD = 200;

/** A resource without a method is sold by GET, and by POST if its documents sell the POST without doubt. */
function findSold(resources: readonly PlannedResource[]): readonly DeclaredSale[] {
  const declared = resources.filter(
    ({ declaredPaid, sources }) =>
      declaredPaid && (sources.includes('openapi') || sources.includes('manifest')),
  );
  return declared.slice(0, MAX_SOLD).flatMap(({ method, template, post }) => {
    const methods = method === null ? (['GET', 'POST'] as const) : [method];
    return methods
      .filter((one) => one === 'GET' || post === 'sold')
      .map((one) => ({ method: one, path: template }));
  });
}

export const MAX_PROBED_RESOURCES = 6;

/**
 * Chooses resources that cover as many methods and sources as possible. Each step takes the resource with the
 * most methods and sources that are not yet covered. Declared resources precede candidates.
 */
export function chooseResources(resources: readonly PlannedResource[]): readonly PlannedResource[] {
  const chosen: PlannedResource[] = [];
  const covered = new Set<string>();
  const remaining = [...resources];
  while (chosen.length < MAX_PROBED_RESOURCES && remaining.length > 0) {
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
