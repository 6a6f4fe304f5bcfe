/** Changes the plan of a scan for the census: adds what an index lists, and drops what robots.txt refuses. */
import type { HttpObservation, Observations } from '../model/observations.ts';
import type { PlannedResource } from '../probe/plan/declared-requests.ts';
import { MAX_PROBED_RESOURCES, type Plan } from '../probe/plan/plan.ts';
import { runOnWorker, type ScanWork, type WorkModule } from './origin-work.ts';
import type { AllowedPaths, CensusInstructions } from './scanner.ts';

type RobotsModule = typeof import('../parse/text/robots.ts');
const ROBOTS: WorkModule<RobotsModule> = new URL('../parse/text/robots.ts', import.meta.url);

/**
 * Anybody may put a row into an index. Listed resources are therefore candidates by GET, after what the origin
 * declares. They count only if they answer 402, and none of them gets a POST.
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
  const allowed = (await readAllowed(robots, robotsAgent, paths, work)) ?? lastAllowed;
  return {
    ...plan,
    resources: resources.filter(({ path }) => allowed[path] ?? false),
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

/** True if the answer says nothing about robots.txt: a 429, a server error, or no answer (RFC 9309, 2.3.1.4). */
export function isUnavailable(robots: HttpObservation): boolean {
  // A redirect that is not followed is an answer.
  if (!robots.ok) return robots.reason !== 'redirect-loop' && robots.reason !== 'redirect-refused';
  return robots.data.status === 429 || robots.data.status >= 500;
}

/**
 * Tells for each path if robots.txt allows it. A missing file allows every path (RFC 9309, 2.3.1.3), and so does a file
 * that the worker cannot read within its limits. Returns null if `isUnavailable`: the rules read before then stand.
 */
export async function readAllowed(
  robots: HttpObservation,
  agent: string,
  paths: readonly string[],
  work: ScanWork,
): Promise<AllowedPaths | null> {
  if (isUnavailable(robots)) return null;
  const toRules = (allowed: readonly boolean[]): AllowedPaths =>
    Object.fromEntries(paths.map((path, index) => [path, allowed[index] ?? true]));
  if (!robots.ok || robots.data.status !== 200) return toRules([]);
  const input = { agent, paths, text: robots.data.body };
  const result = await runOnWorker(work, 'origin', ROBOTS, 'findAllowed', input);
  return toRules(result.ok ? result.output : []);
}
