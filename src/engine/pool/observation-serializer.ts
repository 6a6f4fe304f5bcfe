/**
 * Serializes each observation once a scan, however many checks need it, and only when a thread is
 * free for it: of many scans that wait, each would else hold its documents twice.
 */
import type { ObservationName, Observations } from '../../model/observations.ts';
import { type Serialized, serialize, textBytes } from '../../parse/json/transfer.ts';
import type { SerializedObservation } from './job.ts';

/** The part of whatever was not observed at all. */
const NOTHING_SEEN = 0;

export type ObservationSerializer = (
  scanKey: string,
  seen: Partial<Observations>,
) => readonly SerializedObservation[];

type Kept = { bytes: number; readonly values: WeakMap<object, Serialized> };

/** Keeps what it made of the scans that were asked for last, up to `maxBytes` of text. */
export function createObservationSerializer(maxBytes: number): ObservationSerializer {
  /** The scan that was asked for last is the last. */
  const recent = new Map<string, Kept>();
  /** Observations are frozen, so identity will do; the number stays when a text is made anew. */
  const parts = new WeakMap<object, number>();
  let count = 0;

  function keptOf(scanKey: string): Kept {
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
    const kept = keptOf(scanKey);
    const serialized = namesOf(seen).flatMap((name) => {
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

function namesOf(seen: Partial<Observations>): readonly ObservationName[] {
  // Object.keys forgets the key type; the parameter's type has just stated it.
  return Object.keys(seen) as ObservationName[];
}
