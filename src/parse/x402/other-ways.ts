/** Resources that sell over another protocol: a shop may have an x402 till and another one. */
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

/** Lists one way per resource, method and protocol, those with an x402 challenge beside it included. */
export function findOtherWays(
  resources: readonly ResourceObservation[],
): readonly ResourceOtherWay[] {
  return resources.flatMap((resource) =>
    findJudgedProbes(resource, resources).flatMap(({ method, answer }) => {
      if (!answer.ok) return [];
      const { path } = resource;
      return findOtherChallenges(answer.data).map((one) => ({ resource, method, path, ...one }));
    }),
  );
}

/** Probed resources that challenge over another protocol and not over x402. */
function soldElsewhere(
  resources: readonly ResourceObservation[],
  read: ChallengeReader,
): ReadonlySet<ResourceObservation> {
  const asking = new Set(findChallengedResources(resources, read).map(({ resource }) => resource));
  const ways = findOtherWays(resources).filter(({ resource }) => !asking.has(resource));
  return new Set(ways.map(({ resource }) => resource));
}

/**
 * Probed resources that sell over x402 or should. Beside resources that challenge over x402, one that
 * challenges over another protocol only is a second till, and is left out.
 */
export function findSellingResources(
  resources: readonly ResourceObservation[],
  read: ChallengeReader,
): readonly ResourceObservation[] {
  const signIns = findSignIns(resources, read);
  const hasX402 = findChallengedResources(resources, read).length > 0;
  const elsewhere = hasX402 ? soldElsewhere(resources, read) : new Set();
  return resources.filter((one) => !signIns.includes(one) && !elsewhere.has(one));
}
