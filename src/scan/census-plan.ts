/** Changes the plan of a scan for the census: adds listed resources, and drops those that robots.txt refuses. */
import type { HttpObservation, Observations } from '../model/observations.ts';
import type { PlannedResource } from '../probe/plan/declared-requests.ts';
import { MAX_PROBED_RESOURCES, type Plan } from '../probe/plan/plan.ts';
import { runOnWorker, type ScanWork, type WorkModule } from './origin-work.ts';
import type { CensusInstructions } from './scanner.ts';

const ROBOTS_MODULE: WorkModule<typeof import('../parse/text/robots.ts')> = new URL(
  '../parse/text/robots.ts',
  import.meta.url,
);
const OK = 200;

/** Puts the listed resources before all others, and drops those that robots.txt refuses to the census. */
export async function planForCensus(
  plan: Plan,
  { origin, robots }: Pick<Observations, 'origin' | 'robots'>,
  { listed, robotsAgent }: CensusInstructions,
  work: ScanWork,
): Promise<Plan> {
  const isListed = ({ method, path }: PlannedResource) =>
    listed.some((entry) => entry.path === path && entry.method === (method ?? entry.method));
  const known = plan.resources.filter(isListed);
  const missing = listed
    .filter(
      ({ method, path }) =>
        !known.some((planned) => planned.path === path && (planned.method ?? method) === method),
    )
    .map(({ method, path }) => toPlannedResource(origin.url, method, path));
  const others = plan.resources.filter((resource) => !isListed(resource));
  const wanted = [...known, ...missing, ...others].slice(0, MAX_PROBED_RESOURCES);
  const paths = wanted.map(({ path }) => path);
  const allowed = await readAllowed(robots, { agent: robotsAgent, paths }, work);
  return {
    ...plan,
    resources: wanted.filter((_, index) => allowed?.[index] ?? true),
    declared: plan.declared + missing.length,
  };
}

function toPlannedResource(
  originUrl: string,
  method: 'GET' | 'POST',
  path: string,
): PlannedResource {
  const declared = { sources: ['index'] as const, declaredPaid: true, madeUp: false };
  return { url: originUrl + path, path, template: path, method, ...declared, freePost: false };
}

/**
 * Returns for each path whether robots.txt allows it. Returns null if there is no robots.txt, which allows
 * all paths, or if the server did not answer (RFC 9309, 2.3.1).
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
