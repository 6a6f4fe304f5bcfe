/** Changes the plan of a scan for the census: it asks for listed resources, and for nothing that robots.txt refuses it. */
import type { HttpObservation, Observations } from '../model/observations.ts';
import type { PlannedResource } from '../probe/plan/declared-requests.ts';
import { MAX_PROBED, type Plan } from '../probe/plan/plan.ts';
import { type ScanWork, type WorkModule, workOn } from './origin-work.ts';
import type { CensusWish } from './scanner.ts';

const ROBOTS_MODULE: WorkModule<typeof import('../parse/text/robots.ts')> = new URL(
  '../parse/text/robots.ts',
  import.meta.url,
);
const OK = 200;

/** Adds the listed resources before all others, and drops those that robots.txt refuses to the census. */
export async function planForCensus(
  plan: Plan,
  { origin, robots }: Pick<Observations, 'origin' | 'robots'>,
  { listed, robotsAgent }: CensusWish,
  work: ScanWork,
): Promise<Plan> {
  const isListed = ({ method, path }: PlannedResource) =>
    listed.some((one) => one.path === path && one.method === (method ?? one.method));
  const known = plan.resources.filter(isListed);
  const missing = listed
    .filter(
      ({ method, path }) =>
        !known.some((one) => one.path === path && (one.method ?? method) === method),
    )
    .map(({ method, path }) => toPlanned(origin.url, method, path));
  const others = plan.resources.filter((one) => !isListed(one));
  const wanted = [...known, ...missing, ...others].slice(0, MAX_PROBED);
  const paths = wanted.map(({ path }) => path);
  const allowed = await readAllowed(robots, { agent: robotsAgent, paths }, work);
  return {
    ...plan,
    resources: wanted.filter((_, at) => allowed?.[at] ?? true),
    declared: plan.declared + missing.length,
  };
}

function toPlanned(originUrl: string, method: 'GET' | 'POST', path: string): PlannedResource {
  const declared = { sources: ['index'] as const, declaredPaid: true, madeUp: false };
  return { url: originUrl + path, path, template: path, method, ...declared, freePost: false };
}

/**
 * For each path: true if robots.txt allows it. Null if no file says so: there is none, which allows all paths, or the
 * server did not answer (RFC 9309, 2.3.1).
 */
export async function readAllowed(
  robots: HttpObservation,
  request: { readonly agent: string; readonly paths: readonly string[] },
  work: ScanWork,
): Promise<readonly boolean[] | null> {
  if (!robots.ok || robots.data.status !== OK) return null;
  const question = { ...request, text: robots.data.body };
  const worked = await workOn(work, 'origin', ROBOTS_MODULE, 'findAllowed', question);
  return worked.ok ? worked.output : null;
}
