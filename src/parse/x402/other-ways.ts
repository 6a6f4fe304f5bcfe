/** Finds resources that sell over a protocol other than x402. A resource may also sell over x402. */
import type { ResourceObservation } from '../../model/observations.ts';
import type { OtherWay } from '../../model/payability.ts';
import {
  type ChallengeReader,
  findChallengedResources,
  findJudgedProbes,
  findSignIns,
} from './challenged-resources.ts';
import { hasTraceOfX402 } from './misplaced-challenge.ts';
import { findOtherChallenges } from './other-protocol.ts';

export type ResourceOtherWay = OtherWay & { readonly resource: ResourceObservation };

/** Lists one way for each resource, method and protocol, even if the resource also has an x402 challenge. */
export function findOtherWays(
  resources: readonly ResourceObservation[],
): readonly ResourceOtherWay[] {
  return resources.flatMap((resource) =>
    findJudgedProbes(resource, resources).flatMap(({ method, answer }) => {
      if (!answer.ok) return [];
      const { path } = resource;
      return findOtherChallenges(answer.data).map((way) => ({ resource, method, path, ...way }));
    }),
  );
}

/**
 * Finds the resources that sell over x402 or should sell over it. Left out are:
 * - sign-ins;
 * - if any resource challenges over x402, resources that have nothing of x402 in their 402 and another protocol, unless a
 *   document sells them over x402;
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
    if (signIns.includes(resource)) return false;
    if (soldOverX402.has(resource) || hasTrace(resource)) return true;
    if (soldOverOther.has(resource)) {
      return soldOverX402.size === 0 || resource.declaredX402 === true;
    }
    return resource.declaredPaid;
  });
}

function hasTrace({ probes }: ResourceObservation): boolean {
  return probes.some(
    ({ method, number, answer }) =>
      method !== 'HEAD' &&
      number === 1 &&
      answer.ok &&
      answer.data.status === 402 &&
      hasTraceOfX402(answer.data),
  );
}
