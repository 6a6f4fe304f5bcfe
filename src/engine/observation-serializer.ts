import type { ObservationName, Observations } from '../model/observations.ts';
import { type Serialized, serialize } from '../parse/json/transfer.ts';

/** `part` identifies the observation across tasks, so that a worker can cache it. */
export type SerializedObservation = {
  readonly name: string;
  readonly part: number;
  readonly value: Serialized;
};

/** Id of an observation that was not made. */
const NOTHING_SEEN = 0;

/** Serializes each observation once, for all checks. */
export type ObservationSerializer = (
  seen: Partial<Observations>,
) => readonly SerializedObservation[];

/** What was serialized is dropped together with its observation, at the end of the scan. */
export function createObservationSerializer(): ObservationSerializer {
  /** Keyed by identity, because observations are frozen. */
  const known = new WeakMap<object, Pick<SerializedObservation, 'part' | 'value'>>();
  let count = 0;

  return (seen) =>
    listNames(seen).flatMap((name) => {
      const observation = seen[name];
      if (observation === undefined) return [];
      if (observation === null) return [{ name, part: NOTHING_SEEN, value: null }];
      const before = known.get(observation);
      if (before !== undefined) return [{ name, ...before }];
      count += 1;
      const made = { part: count, value: serialize(observation) };
      known.set(observation, made);
      return [{ name, ...made }];
    });
}

function listNames(seen: Partial<Observations>): readonly ObservationName[] {
  // Object.keys loses the key type, which the parameter states.
  return Object.keys(seen) as ObservationName[];
}
