/** Requests to the plan's paid resources, in two steps: those to all, and those that follow from the answers. */
import type {
  HttpObservation,
  Probe,
  ProbingOptions,
  ResourceObservation,
  ResourceSet,
} from '../model/observations.ts';
import type { RequestCache } from './client/request-cache.ts';
import type { PlannedResource } from './plan/declared-requests.ts';
import type { Plan } from './plan/plan.ts';

const CHALLENGE_CAP_BYTES = 64 * 1024;
const ACCEPT_JSON = 'application/json, */*;q=0.5';

type ResourceRequest = { readonly method: Probe['method']; readonly number: 1 | 2 };

/** Lists the requests that are sent first. A GET is safe, because crawlers send it too. */
function listFirstRequests(
  resource: PlannedResource,
  probing: ProbingOptions,
): readonly ResourceRequest[] {
  const get: ResourceRequest = { method: 'GET', number: 1 };
  const secondGet: ResourceRequest = { method: 'GET', number: 2 };
  const head: ResourceRequest = { method: 'HEAD', number: 1 };
  if (!resource.declaredPaid) return [get];
  if (resource.method !== 'POST') return [get, secondGet, head];
  if (!probing.post) return [get, head];
  return [get, head, { method: 'POST', number: 1 }, { method: 'POST', number: 2 }];
}

/** Lists further requests: to a candidate that answered GET with 402, or by POST. */
function listFurtherRequests(
  resource: PlannedResource,
  probing: ProbingOptions,
  getStatus: number | null,
): readonly ResourceRequest[] {
  const isPaidByGet = getStatus === 402;
  const further: ResourceRequest[] = isPaidByGet
    ? [
        { method: 'GET', number: 2 },
        { method: 'HEAD', number: 1 },
      ]
    : [];
  if (!needsPost(resource, isPaidByGet) || !probing.post) return further;
  return [...further, { method: 'POST', number: 1 }, { method: 'POST', number: 2 }];
}

/**
 * A declared GET that is not paid may be sold by POST. If no document names a method, GET and POST may
 * sell different things. A POST that no document declares as paid would run, so it is not sent.
 */
function needsPost(
  { method, declaredPaid, freePost }: PlannedResource,
  isPaidByGet: boolean,
): boolean {
  if (!declaredPaid || method === 'POST') return false;
  if (method === 'GET') return !isPaidByGet && !freePost;
  return !isPaidByGet || !freePost;
}

/** A planned resource with its answers so far. */
export type ProbedResource = {
  readonly resource: PlannedResource;
  readonly probes: readonly Probe[];
};

/** Sends the first requests to every resource. */
export async function probeResources(
  cache: RequestCache,
  plan: Plan,
  probing: ProbingOptions,
): Promise<readonly ProbedResource[]> {
  return Promise.all(
    plan.resources.map(async (resource) => ({
      resource,
      probes: await sendAll(cache, resource, listFirstRequests(resource, probing)),
    })),
  );
}

/** Sends the requests that the first answers call for. Returns `first` itself if there are none. */
export async function probeFurther(
  cache: RequestCache,
  first: readonly ProbedResource[],
  probing: ProbingOptions,
): Promise<readonly ProbedResource[]> {
  const pending = first.map((probed) => ({ ...probed, requests: findUnsent(probed, probing) }));
  if (pending.every(({ requests }) => requests.length === 0)) return first;
  return Promise.all(
    pending.map(async ({ resource, probes, requests }) => {
      return { resource, probes: [...probes, ...(await sendAll(cache, resource, requests))] };
    }),
  );
}

function findUnsent(
  { resource, probes }: ProbedResource,
  probing: ProbingOptions,
): readonly ResourceRequest[] {
  const sent = new Set(probes.map((probe) => `${probe.method} ${probe.number}`));
  return listFurtherRequests(resource, probing, findGetStatus(probes)).filter(
    ({ method, number }) => !sent.has(`${method} ${number}`),
  );
}

function sendAll(
  cache: RequestCache,
  resource: PlannedResource,
  requests: readonly ResourceRequest[],
): Promise<readonly Probe[]> {
  return Promise.all(
    requests.map(async ({ method, number }) => ({
      method,
      number,
      answer: await cache.ask({
        method,
        path: resource.path,
        number,
        capBytes: CHALLENGE_CAP_BYTES,
        accept: ACCEPT_JSON,
        redirects: method === 'HEAD' ? 'none' : 'same-origin',
      }),
    })),
  );
}

function findGetStatus(probes: readonly Probe[]): number | null {
  const answer = probes.find((probe) => probe.method === 'GET')?.answer;
  return answer?.ok ? answer.data.status : null;
}

/** A candidate that did not answer 402 is not a paid resource. Its answer is reported and not judged. */
export function toResourceSet(plan: Plan, resources: readonly ProbedResource[]): ResourceSet {
  const isPaid = ({ resource, probes }: ProbedResource) =>
    resource.declaredPaid || findGetStatus(probes) === 402;
  const candidates = resources.filter((probed) => !isPaid(probed));
  const probed = resources
    .filter(isPaid)
    .map(({ resource: { freePost: _, madeUp, ...resource }, probes }): ResourceObservation => {
      return { ...resource, ...(madeUp ? { madeUp } : {}), probes };
    });
  return {
    probed,
    declared: plan.declared + probed.filter((resource) => !resource.declaredPaid).length,
    otherMethods: plan.otherMethods,
    ...(plan.elsewhere.length > 0 ? { elsewhere: plan.elsewhere } : {}),
    looked: [
      ...plan.looked,
      ...candidates.map(
        ({ resource, probes }) => `GET ${resource.path}: ${describe(probes[0]?.answer)}`,
      ),
    ],
  };
}

function describe(answer: HttpObservation | undefined): string {
  if (answer === undefined) return 'not asked';
  return answer.ok ? String(answer.data.status) : answer.reason;
}
