/**
 * Each method of a path is a resource of its own: GET and POST may sell two things at two prices, and a
 * good GET must not hide a POST that no client can pay.
 */
import type { HttpData } from '../../model/observation.ts';
import type { Probe, ResourceObservation } from '../../model/observations.ts';
import {
  type Challenge,
  type ChallengedResource,
  type ChallengeReading,
  isSignInOnly,
} from './challenge.ts';
import { toCaip2 } from './networks.ts';
import { findOtherChallenges } from './other-protocol.ts';

export type ChallengeReader = (answer: HttpData) => ChallengeReading;
type ProbeChallenge = Pick<ChallengedResource, 'probe' | 'answer' | 'reading'>;

/**
 * A resource is judged by the challenge to its declared method. When that method did not answer 402, a
 * challenge to the other one counts, unless the other method is itself a resource. When no method is
 * declared, each method with its own terms counts. HEAD, second probes and sign-ins are excluded.
 */
export function findChallengedResources(
  resources: readonly ResourceObservation[],
  read: ChallengeReader,
): readonly ChallengedResource[] {
  return resources.flatMap((resource) => {
    const challenges = findChallenges(resource, resources, read)
      // Clients read the header first.
      .toSorted((one, other) => Number(isInBody(one)) - Number(isInBody(other)));
    const best = resource.method === null ? withOwnTerms(challenges) : challenges.slice(0, 1);
    return best
      .filter(({ reading }) => !isSignInOnly(reading.challenge))
      .map((one) => ({ resource, ...one, second: secondChallenge(resource, one.probe, read) }));
  });
}

/** A sign-in asks for no money, so it is not a paid resource, unless another protocol asks beside it. */
export function findSignIns(
  resources: readonly ResourceObservation[],
  read: ChallengeReader,
): readonly ResourceObservation[] {
  return resources.filter((resource) => {
    const challenges = findChallenges(resource, resources, read);
    return (
      challenges.length > 0 &&
      challenges.every(
        ({ reading, answer }) =>
          isSignInOnly(reading.challenge) && findOtherChallenges(answer).length === 0,
      )
    );
  });
}

function findChallenges(
  resource: ResourceObservation,
  all: readonly ResourceObservation[],
  read: ChallengeReader,
): readonly ProbeChallenge[] {
  return findJudgedProbes(resource, all)
    .map((probe) => challengeFrom(probe, read))
    .filter((one) => one !== null);
}

/** Probes that tell how a resource is sold: those of its own method if one got 402, else also of methods that are no resource. */
export function findJudgedProbes(
  resource: ResourceObservation,
  all: readonly ResourceObservation[],
): readonly Probe[] {
  const first = resource.probes.filter(({ number, method }) => number === 1 && method !== 'HEAD');
  if (resource.method === null) return first;
  const own = first.filter(({ method }) => method === resource.method);
  if (own.some(({ answer }) => answer.ok && answer.data.status === 402)) return own;
  return first.filter(
    ({ method }) =>
      method === resource.method ||
      !all.some((one) => one.method === method && one.path === resource.path),
  );
}

/** Methods with equal terms count once, whatever the version. */
function withOwnTerms(challenges: readonly ProbeChallenge[]): readonly ProbeChallenge[] {
  const terms = challenges.map(({ reading }) => formatTerms(reading.challenge));
  return challenges.filter((_, index) => terms.indexOf(terms[index] ?? '') === index);
}

function formatTerms({ offers }: Challenge): string {
  return JSON.stringify(
    offers.map(({ scheme, network, amount, asset, payTo, extra }) => {
      const on = typeof network === 'string' ? toCaip2(network) : network;
      return [scheme, on, amount, asset, payTo, extra];
    }),
  );
}

function isInBody({ reading }: ProbeChallenge): boolean {
  return reading.challenge.where === 'body';
}

function challengeFrom(probe: Probe, read: ChallengeReader): ProbeChallenge | null {
  if (!probe.answer.ok || probe.answer.data.status !== 402) return null;
  const answer = probe.answer.data;
  const reading = read(answer);
  const { challenge } = reading;
  return challenge === null ? null : { probe, answer, reading: { ...reading, challenge } };
}

function secondChallenge(
  resource: ResourceObservation,
  first: Probe,
  read: ChallengeReader,
): Challenge | null {
  const second = resource.probes.find(
    (probe) => probe.number === 2 && probe.method === first.method,
  );
  return second === undefined ? null : (challengeFrom(second, read)?.reading.challenge ?? null);
}
