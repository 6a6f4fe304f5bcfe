/** Changes the plan of a scan for the census: adds what an index lists, and drops what robots.txt refuses. */
import type { HttpObservation, Observations } from '../model/observations.ts';
import type { PlannedResource } from '../probe/plan/declared-requests.ts';
import { MAX_PROBED_RESOURCES, type Plan } from '../probe/plan/plan.ts';
import { runOnWorker, type ScanWork, type WorkModule } from './origin-work.ts';
import type { CensusInstructions } from './scanner.ts';

type RobotsModule = typeof import('../parse/text/robots.ts');
const ROBOTS: WorkModule<RobotsModule> = new URL('../parse/text/robots.ts', import.meta.url);
const OK = 200;
const TOO_MANY_REQUESTS = 429;
const MIN_SERVER_ERROR = 500;

/**
 * Anybody may put a row into an index. Listed resources are therefore candidates by GET, after what the origin declares:
 * they count only if they answer 402, and none of them gets a POST.
 */
export async function planForCensus(
  plan: Plan,
  { origin, robots }: Pick<Observations, 'origin' | 'robots'>,
  { listed, robotsAgent, lastAllowed }: CensusInstructions,
  work: ScanWork,
): Promise<Plan> {
  const planned = new Set(plan.resources.map(({ path }) => path));
  const added = [...new Set(listed.map(({ path }) => path))]
    .filter((path) => !planned.has(path))
    .map((path) => toCandidate(origin.url, path));
  const resources = [...plan.resources, ...added].slice(0, MAX_PROBED_RESOURCES);
  const mayGetPost = (path: string) =>
    plan.resources.some((resource) => resource.path === path && resource.post !== 'never');
  const unsent = listed
    .filter(({ method, path }) => method === 'POST' && !mayGetPost(path))
    .map(({ method, path }) => ({ method, template: path, source: 'index' as const }));
  const paths = resources.map(({ path }) => path);
  const allowed = isUnavailable(robots)
    ? paths.map((path) => lastAllowed[path] ?? false)
    : await readAllowed(robots, { agent: robotsAgent, paths }, work);
  return {
    ...plan,
    resources: resources.filter((_, index) => allowed?.[index] ?? true),
    unsent: [...plan.unsent, ...unsent],
  };
}

function toCandidate(originUrl: string, path: string): PlannedResource {
  return {
    url: originUrl + path,
    path,
    template: path,
    method: 'GET',
    sources: ['index'],
    declaredPaid: false,
    madeUp: false,
    post: 'never',
  };
}

/** True if this answer says nothing about robots.txt, so that what was read before stands (RFC 9309, 2.3.1.4). */
export function isUnavailable(robots: HttpObservation): boolean {
  // A redirect that is not followed is an answer.
  if (!robots.ok) return robots.reason !== 'redirect-loop' && robots.reason !== 'redirect-refused';
  return robots.data.status === TOO_MANY_REQUESTS || robots.data.status >= MIN_SERVER_ERROR;
}

/**
 * Tells for each path if robots.txt allows it. Returns null if robots.txt does not exist, which allows all paths (RFC
 * 9309, 2.3.1), or cannot be read. Callers test `isUnavailable` first.
 */
export async function readAllowed(
  robots: HttpObservation,
  request: { readonly agent: string; readonly paths: readonly string[] },
  work: ScanWork,
): Promise<readonly boolean[] | null> {
  if (!robots.ok || robots.data.status !== OK) return null;
  const input = { ...request, text: robots.data.body };
  const result = await runOnWorker(work, 'origin', ROBOTS, 'findAllowed', input);
  return result.ok ? result.output : null;
}
