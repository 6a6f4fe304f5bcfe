/** Finds resources that sell over another protocol than x402. A resource or a site may also sell over both. */
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
      return findOtherChallenges(answer.data).map((challenge) => ({
        resource,
        method,
        path,
        ...challenge,
      }));
    }),
  );
}

/** Finds the resources that challenge over another protocol and not over x402. */
function findSoldElsewhere(
  resources: readonly ResourceObservation[],
  read: ChallengeReader,
): ReadonlySet<ResourceObservation> {
  const sellingOverX402 = new Set(
    findChallengedResources(resources, read).map(({ resource }) => resource),
  );
  const ways = findOtherWays(resources).filter(({ resource }) => !sellingOverX402.has(resource));
  return new Set(ways.map(({ resource }) => resource));
}

/**
 * Finds the resources that sell over x402 or should. If any resource challenges over x402, those that challenge only
 * over another protocol are left out. Sign-ins are always left out.
 */
export function findSellingResources(
  resources: readonly ResourceObservation[],
  read: ChallengeReader,
): readonly ResourceObservation[] {
  const signIns = findSignIns(resources, read);
  const hasX402 = findChallengedResources(resources, read).length > 0;
  const soldElsewhere = hasX402 ? findSoldElsewhere(resources, read) : new Set();
  return resources.filter(
    (resource) => !signIns.includes(resource) && !soldElsewhere.has(resource),
  );
}
