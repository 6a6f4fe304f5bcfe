/** Chooses few resources to probe, with each method and each source among them. */
import type { PlannedResource } from './planned-resource.ts';

const MAX_PROBED = 6;

/**
 * Greedy cover: at each step the resource that adds most methods and sources not yet covered,
 * declared ones before candidates, document order among equals. Deterministic.
 */
export function chooseResources(found: readonly PlannedResource[]): readonly PlannedResource[] {
  const chosen: PlannedResource[] = [];
  const covered = new Set<string>();
  const left = [...found];
  while (chosen.length < MAX_PROBED && left.length > 0) {
    const best = left.reduce((a, b) => (worth(b, covered) > worth(a, covered) ? b : a));
    left.splice(left.indexOf(best), 1);
    chosen.push(best);
    for (const facet of facets(best)) covered.add(facet);
  }
  return chosen.sort((a, b) => found.indexOf(a) - found.indexOf(b));
}

function worth(resource: PlannedResource, covered: ReadonlySet<string>): number {
  const fresh = facets(resource).filter((facet) => !covered.has(facet)).length;
  return fresh + (resource.declaredPaid ? 100 : 0);
}

function facets({ method, sources }: PlannedResource): readonly string[] {
  return [`method ${method ?? 'none'}`, ...sources.map((source) => `source ${source}`)];
}
