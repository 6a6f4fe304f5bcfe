/** Changes the plan of a scan for the census: puts listed resources first, and drops what robots.txt refuses. */
import type { HttpObservation, Observations } from '../model/observations.ts';
import type { PlannedResource } from '../probe/plan/declared-requests.ts';
import { MAX_PROBED_RESOURCES, type Plan } from '../probe/plan/plan.ts';
import { runOnWorker, type ScanWork, type WorkModule } from './origin-work.ts';
import type { CensusInstructions, CensusResource } from './scanner.ts';

const ROBOTS_MODULE: WorkModule<typeof import('../parse/text/robots.ts')> = new URL(
  '../parse/text/robots.ts',
  import.meta.url,
);
const OK = 200;

export async function planForCensus(
  plan: Plan,
  { origin, robots }: Pick<Observations, 'origin' | 'robots'>,
  { listed, robotsAgent }: CensusInstructions,
  work: ScanWork,
): Promise<Plan> {
  const isListed = (planned: PlannedResource) => listed.some((entry) => isSame(planned, entry));
  const planned = plan.resources.filter(isListed);
  const added = listed
    .filter((entry) => !planned.some((resource) => isSame(resource, entry)))
    .map((entry) => toPlannedResource(origin.url, entry));
  const others = plan.resources.filter((resource) => !isListed(resource));
  const resources = [...planned, ...added, ...others].slice(0, MAX_PROBED_RESOURCES);
  const paths = resources.map(({ path }) => path);
  const allowed = await readAllowed(robots, { agent: robotsAgent, paths }, work);
  return {
    ...plan,
    resources: resources.filter((_, index) => allowed?.[index] ?? true),
    declared: plan.declared + added.length,
  };
}

function isSame(planned: PlannedResource, { method, path }: CensusResource): boolean {
  return planned.path === path && (planned.method ?? method) === method;
}

function toPlannedResource(originUrl: string, { method, path }: CensusResource): PlannedResource {
  const declared = { sources: ['index'] as const, declaredPaid: true, madeUp: false };
  return { url: originUrl + path, path, template: path, method, ...declared, freePost: false };
}

/**
 * Tells for each path if robots.txt allows it. Returns null if robots.txt does not exist, did not arrive or
 * cannot be read. A missing robots.txt allows all paths (RFC 9309, 2.3.1).
 */
export async function readAllowed(
  robots: HttpObservation,
  request: { readonly agent: string; readonly paths: readonly string[] },
  work: ScanWork,
): Promise<readonly boolean[] | null> {
  if (!robots.ok || robots.data.status !== OK) return null;
  const input = { ...request, text: robots.data.body };
  const result = await runOnWorker(work, 'origin', ROBOTS_MODULE, 'findAllowed', input);
  return result.ok ? result.output : null;
}
