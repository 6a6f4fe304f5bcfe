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

type Kept = { bytes: number; readonly values: WeakMap<object, Serialized> };

/** Caches serialized observations of the most recent scans, up to `maxBytes`. */
export function createObservationSerializer(maxBytes: number): ObservationSerializer {
  /** In order of use; the most recently used scan is last. */
  const recent = new Map<string, Kept>();
  /** Keyed by identity, because observations are frozen. Ids stay when a text is serialized again. */
  const parts = new WeakMap<object, number>();
  let count = 0;

  function findKept(scanKey: string): Kept {
    const kept = recent.get(scanKey) ?? { bytes: 0, values: new WeakMap() };
    recent.delete(scanKey);
    recent.set(scanKey, kept);
    return kept;
  }

  function dropOldest(): void {
    let bytes = [...recent.values()].reduce((sum, kept) => sum + kept.bytes, 0);
    for (const [scanKey, kept] of recent) {
      if (bytes <= maxBytes || recent.size === 1) return;
      recent.delete(scanKey);
      bytes -= kept.bytes;
    }
  }

  return (scanKey, seen) => {
    const kept = findKept(scanKey);
    const serialized = listNames(seen).flatMap((name) => {
      const observation = seen[name];
      if (observation === undefined) return [];
      if (observation === null) return [{ name, part: NOTHING_SEEN, value: null }];
      const part = parts.get(observation) ?? ++count;
      parts.set(observation, part);
      const before = kept.values.get(observation);
      const value = before ?? serialize(observation);
      if (before === undefined) kept.bytes += textBytes(value);
      kept.values.set(observation, value);
      return [{ name, part, value }];
    });
    dropOldest();
    return serialized;
  };
}

function listNames(seen: Partial<Observations>): readonly ObservationName[] {
  // Object.keys loses the key type, which the parameter states.
  return Object.keys(seen) as ObservationName[];
}
