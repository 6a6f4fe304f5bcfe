/** Changes the plan of a scan for the census: adds listed resources, and drops what robots.txt refuses. */
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

/**
 * Anybody may put a row into an index. Listed resources are therefore candidates by GET, after what the origin declares:
 * they count only if they answer 402, and none of them gets a POST.
 */
export async function planForCensus(
  plan: Plan,
  { origin, robots }: Pick<Observations, 'origin' | 'robots'>,
  { listed, robotsAgent }: CensusInstructions,
  work: ScanWork,
): Promise<Plan> {
  const added = listed
    .filter(({ method, path }) => method === 'GET' && !plan.resources.some(hasPath(path)))
    .map(({ path }) => toCandidate(origin.url, path));
  const resources = [...plan.resources, ...added].slice(0, MAX_PROBED_RESOURCES);
  const paths = resources.map(({ path }) => path);
  const allowed = await readAllowed(robots, { agent: robotsAgent, paths }, work);
  return {
    ...plan,
    resources: resources.filter((_, index) => allowed?.[index] ?? true),
  };
}

/** A candidate is dropped if a document declares its path with another method. */
function hasPath(path: string): (planned: PlannedResource) => boolean {
  return (planned) => planned.path === path;
}

function toCandidate(originUrl: string, path: string): PlannedResource {
  const found = { sources: ['index'] as const, declaredPaid: false, madeUp: false };
  return { url: originUrl + path, path, template: path, method: 'GET', ...found, freePost: false };
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
