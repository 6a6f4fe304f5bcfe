/** Finds resources that sell over a protocol other than x402. A resource may also sell over x402. */
import type { ResourceObservation, ResourceSet } from '../../model/observations.ts';
import type { OtherWay } from '../../model/payability.ts';
import {
  type ChallengeReader,
  findChallengedResources,
  findSaleProbes,
  findSignIns,
} from './challenged-resources.ts';
import { hasTraceOfX402 } from './misplaced-challenge.ts';
import { findOtherChallenges, formatMoreSold } from './other-protocol.ts';
import { findStatus, isNoAnswer, listFirstProbes } from './resource-answers.ts';

type ResourceOtherWay = OtherWay & { readonly resource: ResourceObservation };

/** Lists one way for each resource, method and protocol, even if the resource also has an x402 challenge. */
export function findOtherWays(
  resources: readonly ResourceObservation[],
): readonly ResourceOtherWay[] {
  return resources.flatMap((resource) =>
    findSaleProbes(resource, resources).flatMap(({ method, answer }) => {
      if (!answer.ok) return [];
      const { path } = resource;
      return findOtherChallenges(answer.data).map((way) => ({ resource, method, path, ...way }));
    }),
  );
}

/**
 * Finds the resources that sell over x402 or should sell over it. Left out are:
 * - sign-ins;
 * - resources that answered 429, or whose requests our politeness kept back;
 * - if any resource challenges over x402, resources that have nothing of x402 in their 402 and another protocol, unless a
 *   document sells them over x402;
 * - resources that only an index names, unless they challenge over x402;
 * - 402s that no document declares and that have no trace of x402, unless another protocol is all that is sold.
 */
export function findSellingResources(
  resources: readonly ResourceObservation[],
  read: ChallengeReader,
): readonly ResourceObservation[] {
  const signIns = findSignIns(resources, read);
  const challenged = findChallengedResources(resources, read);
  const soldOverX402 = new Set(challenged.map(({ resource }) => resource));
  const soldOverOther = new Set(findOtherWays(resources).map(({ resource }) => resource));
  return resources.filter((resource) => {
    if (signIns.includes(resource) || isNotKnown(resource, resources)) return false;
    if (soldOverX402.has(resource)) return true;
    if (resource.sources.every((source) => source === 'index')) return false;
    if (hasTrace(resource, read)) return true;
    if (soldOverOther.has(resource)) {
      return soldOverX402.size === 0 || resource.declaredX402 === true;
    }
    return resource.declaredPaid;
  });
}

/** Counts the resources that are sold only over another protocol: "2 more are sold over MPP: tempo"; null for none. */
export function formatOtherSales(
  resources: readonly ResourceObservation[],
  read: ChallengeReader,
): string | null {
  const otherWays = findOtherWays(resources);
  if (otherWays.length === 0) return null;
  const soldOverX402 = findChallengedResources(resources, read);
  const selling = findSellingResources(resources, read);
  // "More" leaves out a resource that should be sold over x402: P2 reports its missing challenge.
  const isMissingChallenge = (resource: ResourceObservation) =>
    selling.includes(resource) && soldOverX402.every((sold) => sold.resource !== resource);
  return formatMoreSold(
    otherWays.filter(({ resource }) => !isMissingChallenge(resource)),
    soldOverX402.map(({ probe, resource: { path } }) => ({ method: probe.method, path })),
  );
}

function hasTrace(resource: ResourceObservation, read: ChallengeReader): boolean {
  return listFirstProbes(resource).some(
    ({ answer }) =>
      answer.ok && answer.data.status === 402 && hasTraceOfX402(answer.data, read(answer.data)),
  );
}

/** Finds the resources of which nothing is known, because they answered 429, or because we kept requests back. */
export function findNotKnown(
  resources: readonly ResourceObservation[],
): readonly ResourceObservation[] {
  return resources.filter((resource) => isNotKnown(resource, resources));
}

/** A 402 to any request that may show how the resource is sold is an answer, even if another request met a 429. */
function isNotKnown(resource: ResourceObservation, all: readonly ResourceObservation[]): boolean {
  const judged = findSaleProbes(resource, all);
  if (judged.some(({ answer }) => answer.ok && answer.data.status === 402)) return false;
  // The answer to the declared method decides, whatever another method answered.
  const own = judged.filter(({ method }) => method === (resource.method ?? method));
  return own.some(({ answer }) => isNoAnswer(answer));
}

/** Formats "1 of 3 not known: 429"; null if every resource is known. */
export function formatNotKnown(resources: readonly ResourceObservation[]): string | null {
  const notKnown = findNotKnown(resources);
  if (notKnown.length === 0) return null;
  const has429 = notKnown.some(
    (resource) => findStatus(resource, 'GET') === 429 || findStatus(resource, 'POST') === 429,
  );
  return `${notKnown.length} of ${resources.length} not known: ${has429 ? '429' : 'not sent'}`;
}

/**
 * Returns why we may have missed a resource that takes the method: its answer is not known, or nothing was sold and a
 * document was not read. Returns null if we saw every such resource.
 */
export function findUnseen(
  { probed, notKnown = [], unread = [] }: ResourceSet,
  method: 'GET' | 'POST',
  read: ChallengeReader,
): string | null {
  const isNothingSold = findSellingResources(probed, read).length === 0;
  const mayTakeMethod = findNotKnown(probed).some(
    (resource) => isNothingSold || (resource.method ?? method) === method,
  );
  if (mayTakeMethod) return formatNotKnown(probed);
  return isNothingSold ? (unread[0] ?? notKnown[0] ?? null) : null;
}
