import type { HttpData } from '../../model/observation.ts';
import type { Probe, ResourceObservation } from '../../model/observations.ts';
import type { Challenge, ChallengedResource, ChallengeReading } from './challenge.ts';

/**
 * The resources that challenged, each with its best answer: a 402 whose header holds the challenge,
 * then a 402 whose body does. HEAD and second probes are never the best answer.
 */
export function challengedResources(
  resources: readonly ResourceObservation[],
  read: (answer: HttpData) => ChallengeReading,
): readonly ChallengedResource[] {
  return resources.flatMap((resource) => {
    const found = resource.probes
      .filter((probe) => probe.number === 1 && probe.method !== 'HEAD')
      .map((probe) => challengeFrom(probe, read))
      .filter((one) => one !== null);
    const best =
      found.find(({ reading }) => reading.challenge.where === 'header') ?? found.at(0) ?? null;
    if (best === null) return [];
    return [{ resource, ...best, second: secondChallenge(resource, best.probe, read) }];
  });
}

function challengeFrom(
  probe: Probe,
  read: (answer: HttpData) => ChallengeReading,
): Pick<ChallengedResource, 'probe' | 'answer' | 'reading'> | null {
  if (!probe.answer.ok || probe.answer.data.status !== 402) return null;
  const answer = probe.answer.data;
  const reading = read(answer);
  const { challenge } = reading;
  return challenge === null ? null : { probe, answer, reading: { ...reading, challenge } };
}

function secondChallenge(
  resource: ResourceObservation,
  first: Probe,
  read: (answer: HttpData) => ChallengeReading,
): Challenge | null {
  const second = resource.probes.find(
    (probe) => probe.number === 2 && probe.method === first.method,
  );
  return second === undefined ? null : (challengeFrom(second, read)?.reading.challenge ?? null);
}
