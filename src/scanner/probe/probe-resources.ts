/** Requests the plan's resources in two steps. The requests of the second step depend on the answers of the first. */
import type {
  HttpObservation,
  Probe,
  ProbingOptions,
  ResourceObservation,
  ResourceSet,
} from '../model/observations.ts';
import { findStatus, isNoAnswer, listFirstProbes } from '../parse/x402/resource-answers.ts';
import { ACCEPT_JSON, type RequestCache } from './client/request-cache.ts';
import type { PlannedResource } from './plan/declared-requests.ts';
import type { Plan } from './plan/plan.ts';

const CHALLENGE_CAP_BYTES = 64 * 1024;

type ResourceRequest = Pick<Probe, 'method' | 'number'>;
const GET: ResourceRequest = { method: 'GET', number: 1 };
const SECOND_GET: ResourceRequest = { method: 'GET', number: 2 };
const HEAD: ResourceRequest = { method: 'HEAD', number: 1 };
const POST: ResourceRequest = { method: 'POST', number: 1 };
const SECOND_POST: ResourceRequest = { method: 'POST', number: 2 };

/** Lists the requests of the first step. A GET is always sent. It is safe, because crawlers send it too. */
function listFirstRequests(
  { declaredPaid, method, post }: PlannedResource,
  probing: ProbingOptions,
): readonly ResourceRequest[] {
  if (!declaredPaid) return [GET];
  const gets = method === 'POST' ? [GET, HEAD] : [GET, SECOND_GET, HEAD];
  return probing.post && post === 'sold' && method === 'POST' ? [...gets, POST] : gets;
}

/**
 * Lists the requests of the second step, which follow from the answers of the first. A POST is repeated only if it
 * was answered with 402: an operation without a guard runs once at most.
 */
function listFurtherRequests(
  { method, post }: PlannedResource,
  probes: readonly Probe[],
  probing: ProbingOptions,
): readonly ResourceRequest[] {
  const getStatus = findStatus({ probes }, 'GET');
  // A POST would be one more request to a resource that has asked for fewer.
  if (getStatus === 429) return [];
  const isPaidByGet = getStatus === 402;
  const isPaidByPost = findStatus({ probes }, 'POST') === 402;
  const isSoldByPost = post === 'sold' || (post === 'if-get-is-unpaid' && !isPaidByGet);
  const sendsPost = probing.post && method === null && isSoldByPost;
  return [
    ...(isPaidByGet ? [SECOND_GET, HEAD] : []),
    ...(sendsPost ? [POST] : []),
    ...(isPaidByPost ? [SECOND_POST] : []),
  ];
}

type ProbedResource = {
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

/** Sends the requests that follow from the first answers. */
export async function probeFurther(
  cache: RequestCache,
  resources: readonly ProbedResource[],
  probing: ProbingOptions,
): Promise<readonly ProbedResource[]> {
  return Promise.all(resources.map((probed) => sendUnsent(cache, probed, probing)));
}

/** Sends requests until no further one follows from the answers. */
async function sendUnsent(
  cache: RequestCache,
  probed: ProbedResource,
  probing: ProbingOptions,
): Promise<ProbedResource> {
  const requests = listUnsent(probed, probing);
  if (requests.length === 0) return probed;
  const { resource, probes } = probed;
  const answers = await sendAll(cache, resource, requests);
  return sendUnsent(cache, { resource, probes: [...probes, ...answers] }, probing);
}

/** True if the second step only repeated requests, so it changed no challenge. It never removes an answer. */
export function hasSameFirstAnswers(
  before: readonly ProbedResource[],
  after: readonly ProbedResource[],
): boolean {
  return before.flatMap(listFirstProbes).length === after.flatMap(listFirstProbes).length;
}

function listUnsent(
  { resource, probes }: ProbedResource,
  probing: ProbingOptions,
): readonly ResourceRequest[] {
  const sent = new Set(probes.map((probe) => `${probe.method} ${probe.number}`));
  return listFurtherRequests(resource, probes, probing).filter(
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

/** A candidate that did not answer 402 is not a paid resource. Its answer is reported and not judged. */
export function toResourceSet(plan: Plan, resources: readonly ProbedResource[]): ResourceSet {
  const isPaid = ({ resource, probes }: ProbedResource) =>
    resource.declaredPaid || findStatus({ probes }, 'GET') === 402;
  const candidates = resources.filter((resource) => !isPaid(resource));
  const notKnown = candidates.filter(
    ({ probes: [first] }) => first !== undefined && isNoAnswer(first.answer),
  );
  const probed = resources
    .filter(isPaid)
    .map(({ resource: { post: _, madeUp, ...resource }, probes }): ResourceObservation => {
      return { ...resource, ...(madeUp ? { madeUp } : {}), probes };
    });
  const candidateAnswers = candidates.flatMap(({ resource: { path }, probes }) =>
    probes.slice(0, 1).map(({ answer }) => ({ path, answer })),
  );
  return {
    probed,
    ...(candidateAnswers.length > 0 ? { candidates: candidateAnswers } : {}),
    declared: plan.declared + probed.filter((resource) => !resource.declaredPaid).length,
    otherMethods: plan.otherMethods,
    ...(plan.elsewhere.length > 0 ? { elsewhere: plan.elsewhere } : {}),
    ...(notKnown.length > 0 ? { notKnown: notKnown.map(describeCandidate) } : {}),
    ...(plan.unread.length > 0 ? { unread: plan.unread } : {}),
    ...(plan.unsent.length > 0 ? { unsent: plan.unsent } : {}),
    looked: [...plan.looked, ...candidates.map(describeCandidate)],
  };
}

function describeCandidate({ resource, probes }: ProbedResource): string {
  return `GET ${resource.path}: ${describeAnswer(probes[0]?.answer)}`;
}

function describeAnswer(answer: HttpObservation | undefined): string {
  if (answer === undefined) return 'not asked';
  return answer.ok ? String(answer.data.status) : answer.reason;
}
