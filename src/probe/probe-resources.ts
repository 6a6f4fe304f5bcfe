/** Requests the plan's resources in two steps. The requests of the second step depend on the answers of the first. */
import type {
  HttpObservation,
  Probe,
  ProbingOptions,
  ResourceObservation,
  ResourceSet,
} from '../model/observations.ts';
import { isNoAnswer } from '../parse/x402/resource-answers.ts';
import type { RequestCache } from './client/request-cache.ts';
import type { PlannedResource } from './plan/declared-requests.ts';
import type { Plan } from './plan/plan.ts';

const CHALLENGE_CAP_BYTES = 64 * 1024;
const ACCEPT_JSON = 'application/json, */*;q=0.5';

type ResourceRequest = Pick<Probe, 'method' | 'number'>;
const GET: ResourceRequest = { method: 'GET', number: 1 };
const SECOND_GET: ResourceRequest = { method: 'GET', number: 2 };
const HEAD: ResourceRequest = { method: 'HEAD', number: 1 };
const POST: ResourceRequest = { method: 'POST', number: 1 };
const SECOND_POST: ResourceRequest = { method: 'POST', number: 2 };

/** Lists the requests of the first step. A GET is always sent. It is safe, because crawlers send it too. */
function listFirstRequests(
  resource: PlannedResource,
  probing: ProbingOptions,
): readonly ResourceRequest[] {
  if (!resource.declaredPaid) return [GET];
  if (resource.method !== 'POST') return [GET, SECOND_GET, HEAD];
  return probing.post ? [GET, HEAD, POST, SECOND_POST] : [GET, HEAD];
}

/** Lists the requests of the second step: more requests if GET answered 402, and POSTs if POST may be sold. */
function listFurtherRequests(
  resource: PlannedResource,
  probing: ProbingOptions,
  getStatus: number | null,
): readonly ResourceRequest[] {
  // A POST would be one more request to a resource that has asked for fewer.
  if (getStatus === 429) return [];
  const isPaidByGet = getStatus === 402;
  const further = isPaidByGet ? [SECOND_GET, HEAD] : [];
  const sendsPost = probing.post && needsPost(resource, isPaidByGet);
  return sendsPost ? [...further, POST, SECOND_POST] : further;
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

/** Sends the requests of the second step. Returns `resources` itself if no request is needed. */
export async function probeFurther(
  cache: RequestCache,
  resources: readonly ProbedResource[],
  probing: ProbingOptions,
): Promise<readonly ProbedResource[]> {
  const pending = resources.map((probed) => ({
    ...probed,
    requests: findUnsent(probed, probing),
  }));
  if (pending.every(({ requests }) => requests.length === 0)) return resources;
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
  const candidates = resources.filter((resource) => !isPaid(resource));
  const notKnown = candidates.filter(
    ({ probes: [first] }) => first !== undefined && isNoAnswer(first.answer),
  );
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
    ...(notKnown.length > 0 ? { notKnown: notKnown.map(describeCandidate) } : {}),
    ...(plan.unread.length > 0 ? { unread: plan.unread } : {}),
    looked: [...plan.looked, ...candidates.map(describeCandidate)],
  };
}

function describeCandidate({ resource, probes }: ProbedResource): string {
  return `GET ${resource.path}: ${describe(probes[0]?.answer)}`;
}

function describe(answer: HttpObservation | undefined): string {
  if (answer === undefined) return 'not asked';
  return answer.ok ? String(answer.data.status) : answer.reason;
}
