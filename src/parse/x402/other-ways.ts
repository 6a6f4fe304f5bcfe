/** Finds resources that sell over a protocol other than x402. A resource may also sell over x402. */
import type { ResourceObservation } from '../../model/observations.ts';
import type { OtherWay } from '../../model/payability.ts';
import {
  type ChallengeReader,
  findChallengedResources,
  findJudgedProbes,
  findSignIns,
} from './challenged-resources.ts';
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
 * Finds the resources that sell over x402 or should sell over it. If any resource challenges over x402, resources that
 * challenge only over another protocol are left out. Sign-ins are always left out.
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
    const isOtherOnly =
      soldOverX402.size > 0 && soldOverOther.has(resource) && !soldOverX402.has(resource);
    return !signIns.includes(resource) && !isOtherOnly;
  });
}
