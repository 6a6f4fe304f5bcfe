/**
 * Each method of a path is a resource of its own. GET and POST may have different prices, and a payable GET must not
 * hide a POST that no client can pay.
 */
import type { HttpData } from '../../model/observation.ts';
import type { Probe, ResourceObservation } from '../../model/observations.ts';
import { jsonObject, jsonText } from '../json/json.ts';
import {
  type Challenge,
  type ChallengedResource,
  type ChallengeReading,
  isSignInOnly,
} from './challenge.ts';
import { toCaip2 } from './networks.ts';
import { findOtherChallenges } from './other-protocol.ts';
import { listFirstProbes } from './resource-answers.ts';

export type ChallengeReader = (answer: HttpData) => ChallengeReading;
type ProbeChallenge = Pick<ChallengedResource, 'probe' | 'answer' | 'reading'>;

/**
 * Leaves out the resources that only an index names, unless there are no others: a stranger can write such rows, so
 * they never count against an origin that sells something of its own.
 */
export function findOwnResources(
  resources: readonly ResourceObservation[],
): readonly ResourceObservation[] {
  const own = resources.filter(({ sources }) => sources.some((source) => source !== 'index'));
  return own.length > 0 ? own : resources;
}

/**
 * A resource is judged by the challenge to its declared method. If the declared method did not answer 402, the
 * challenge to GET or POST counts, unless that method of the path is a resource of its own. If no method is declared,
 * each method with different terms counts. HEAD, second probes and sign-ins do not count.
 */
export function findChallengedResources(
  resources: readonly ResourceObservation[],
  read: ChallengeReader,
): readonly ChallengedResource[] {
  return resources.flatMap((resource) => {
    const challenges = findChallenges(resource, resources, read)
      // Clients read the header first.
      .toSorted((left, right) => Number(isInBody(left)) - Number(isInBody(right)));
    const judgedChallenges =
      resource.method === null ? removeEqualTerms(challenges) : challenges.slice(0, 1);
    return judgedChallenges
      .filter(({ reading }) => !isSignInOnly(reading.challenge))
      .map((first) => ({
        resource,
        ...first,
        second: findSecondChallenge(resource, first.probe, read),
      }));
  });
}

/**
 * Finds the resources whose challenges ask only for a sign-in. These are not paid resources. A resource that also asks
 * for a payment over another protocol is not a sign-in.
 */
export function findSignIns(
  resources: readonly ResourceObservation[],
  read: ChallengeReader,
): readonly ResourceObservation[] {
  return resources.filter((resource) => {
    const challenges = findChallenges(resource, resources, read);
    return challenges.length > 0 && challenges.every(asksOnlyForSignIn);
  });
}

function asksOnlyForSignIn({ reading, answer }: ProbeChallenge): boolean {
  return isSignInOnly(reading.challenge) && findOtherChallenges(answer).length === 0;
}

function findChallenges(
  resource: ResourceObservation,
  all: readonly ResourceObservation[],
  read: ChallengeReader,
): readonly ProbeChallenge[] {
  return findSaleProbes(resource, all).flatMap((probe) => readProbe(probe, read) ?? []);
}

/**
 * Returns the first probes, without HEAD, that show how a resource is sold. If its declared method answered 402, these
 * are the probes of that method. Otherwise, the probes of methods that are not resources of their own count too.
 */
export function findSaleProbes(
  resource: ResourceObservation,
  all: readonly ResourceObservation[],
): readonly Probe[] {
  const firstProbes = listFirstProbes(resource);
  if (resource.method === null) return firstProbes;
  const ownProbes = firstProbes.filter(({ method }) => method === resource.method);
  if (ownProbes.some(({ answer }) => answer.ok && answer.data.status === 402)) return ownProbes;
  return firstProbes.filter(
    ({ method }) =>
      method === resource.method ||
      !all.some((other) => other.method === method && other.path === resource.path),
  );
}

/**
 * Keeps one of several challenges with equal terms, even if their versions differ: the one whose bazaar declaration
 * names its own method, or else the first.
 */
function removeEqualTerms(challenges: readonly ProbeChallenge[]): readonly ProbeChallenge[] {
  const groups = Map.groupBy(challenges, ({ reading }) => toTermsKey(reading.challenge));
  return [...groups.values()].flatMap((group) => group.find(namesOwnMethod) ?? group.slice(0, 1));
}

function namesOwnMethod({ probe, reading }: ProbeChallenge): boolean {
  const extensions = jsonObject(reading.challenge.value['extensions']);
  const info = jsonObject(jsonObject(extensions['bazaar'])['info']);
  const method = jsonText(jsonObject(info['input'])['method']);
  return method?.toUpperCase() === probe.method;
}

function toTermsKey({ offers }: Challenge): string {
  return JSON.stringify(
    offers.map(({ scheme, network, amount, asset, payTo, extra }) => {
      return [scheme, toCaip2(network), amount, asset, payTo, extra];
    }),
  );
}

function isInBody({ reading }: ProbeChallenge): boolean {
  return reading.challenge.where === 'body';
}

function readProbe(probe: Probe, read: ChallengeReader): ProbeChallenge | null {
  if (!probe.answer.ok || probe.answer.data.status !== 402) return null;
  const answer = probe.answer.data;
  const reading = read(answer);
  const { challenge } = reading;
  return challenge === null ? null : { probe, answer, reading: { ...reading, challenge } };
}

function findSecondChallenge(
  { probes }: ResourceObservation,
  first: Probe,
  read: ChallengeReader,
): Challenge | null {
  const second = probes.find((probe) => probe.number === 2 && probe.method === first.method);
  return second === undefined ? null : (readProbe(second, read)?.reading.challenge ?? null);
}
