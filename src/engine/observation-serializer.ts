import { LRUCache } from 'lru-cache';
import type { ObservationName, Observations } from '../model/observations.ts';
import { type Serialized, serialize, textBytes } from '../parse/json/transfer.ts';

/** `part` identifies the observation across tasks, so that a worker can cache it. */
export type SerializedObservation = {
  readonly name: string;
  readonly part: number;
  readonly value: Serialized;
};

/** Id of an observation that was not made. */
const NOTHING_SEEN = 0;

/** Serializes each observation once a scan, for all checks. */
export type ObservationSerializer = (
  scanKey: string,
  seen: Partial<Observations>,
) => readonly SerializedObservation[];

type Kept = { readonly bytes: number; readonly values: WeakMap<object, Serialized> };

/** Caches serialized observations of the most recent scans, up to `maxBytes`. */
export function createObservationSerializer(maxBytes: number): ObservationSerializer {
  const recent = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    // A scan over the limit is cached alone.
    sizeCalculation: ({ bytes }) => Math.min(bytes + 1, maxBytes),
  });
  /** Keyed by identity, because observations are frozen. Ids stay when a text is serialized again. */
  const parts = new WeakMap<object, number>();
  let count = 0;

  return (scanKey, seen) => {
    const kept = recent.get(scanKey);
    const values = kept?.values ?? new WeakMap<object, Serialized>();
    let bytes = kept?.bytes ?? 0;
    const serialized = listNames(seen).flatMap((name) => {
      const observation = seen[name];
      if (observation === undefined) return [];
      if (observation === null) return [{ name, part: NOTHING_SEEN, value: null }];
      const part = parts.get(observation) ?? ++count;
      parts.set(observation, part);
      const before = values.get(observation);
      const value = before ?? serialize(observation);
      if (before === undefined) bytes += textBytes(value);
      values.set(observation, value);
      return [{ name, part, value }];
    });
    recent.set(scanKey, { bytes, values });
    return serialized;
  };
}

function listNames(seen: Partial<Observations>): readonly ObservationName[] {
  // Object.keys loses the key type, which the parameter states.
  return Object.keys(seen) as ObservationName[];
}
