/** Answers of the paid resources that the plan chose, in two steps: what all need, what answers ask for. */
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

type Request = { readonly method: Probe['method']; readonly number: 1 | 2 };

/** First answers of each resource. GET runs nothing that its seller would not show to a crawler. */
function firstRequests(resource: PlannedResource, probing: ProbingOptions): readonly Request[] {
  const get: Request = { method: 'GET', number: 1 };
  const secondGet: Request = { method: 'GET', number: 2 };
  const head: Request = { method: 'HEAD', number: 1 };
  if (!resource.declaredPaid) return [get];
  if (resource.method !== 'POST') return [get, secondGet, head];
  if (!probing.post) return [get, head];
  return [get, head, { method: 'POST', number: 1 }, { method: 'POST', number: 2 }];
}

/** Facts that only the first answers show: a candidate that is paid, a resource that needs a POST. */
function furtherRequests(
  resource: PlannedResource,
  probing: ProbingOptions,
  getStatus: number | null,
): readonly Request[] {
  const isPaidByGet = getStatus === 402;
  const further: Request[] = isPaidByGet
    ? [
        { method: 'GET', number: 2 },
        { method: 'HEAD', number: 1 },
      ]
    : [];
  if (!needsPost(resource, isPaidByGet) || !probing.post) return further;
  return [...further, { method: 'POST', number: 1 }, { method: 'POST', number: 2 }];
}

/**
 * A declared GET that is not paid may be a POST. Where no document names the method, each may sell a
 * thing of its own. A POST that a document has, and no document calls paid, would run.
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

/** Sends what every resource is asked. */
export async function probeResources(
  cache: RequestCache,
  plan: Plan,
  probing: ProbingOptions,
): Promise<readonly ProbedResource[]> {
  return Promise.all(
    plan.resources.map(async (resource) => ({
      resource,
      probes: await askAll(cache, resource, firstRequests(resource, probing)),
    })),
  );
}

/** Sends what the first answers ask for; returns `first` itself if they ask for nothing. */
export async function probeFurther(
  cache: RequestCache,
  first: readonly ProbedResource[],
  probing: ProbingOptions,
): Promise<readonly ProbedResource[]> {
  const open = first.map((one) => ({ ...one, requests: unasked(one, probing) }));
  if (open.every(({ requests }) => requests.length === 0)) return first;
  return Promise.all(
    open.map(async ({ resource, probes, requests }) => {
      return { resource, probes: [...probes, ...(await askAll(cache, resource, requests))] };
    }),
  );
}

function unasked(
  { resource, probes }: ProbedResource,
  probing: ProbingOptions,
): readonly Request[] {
  const sent = new Set(probes.map((probe) => `${probe.method} ${probe.number}`));
  return furtherRequests(resource, probing, statusOfGet(probes)).filter(
    ({ method, number }) => !sent.has(`${method} ${number}`),
  );
}

function askAll(
  cache: RequestCache,
  resource: PlannedResource,
  requests: readonly Request[],
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

function statusOfGet(probes: readonly Probe[]): number | null {
  const answer = probes.find((probe) => probe.method === 'GET')?.answer;
  return answer?.ok ? answer.data.status : null;
}

/** A candidate that did not answer 402 is not a paid resource; its answer is reported, not judged. */
export function toResourceSet(plan: Plan, all: readonly ProbedResource[]): ResourceSet {
  const isPaid = ({ resource, probes }: ProbedResource) =>
    resource.declaredPaid || statusOfGet(probes) === 402;
  const candidates = all.filter((one) => !isPaid(one));
  const probed = all
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
