/**
 * Packs each observation once a scan, however many checks need it, and only when a thread is free
 * for it: of many scans that wait, each would else hold its documents twice.
 */
import type { ObservationName, Observations } from '../../model/observations.ts';
import type { PackedObservation } from './job.ts';
import { type Packed, pack } from './transfer.ts';

export type Packer = (scanKey: string, seen: Partial<Observations>) => readonly PackedObservation[];

type Part = { readonly part: number; readonly value: Packed };

/** Keeps what it packed for this many scans; tasks of one scan follow each other. */
export function createPacker(scans: number): Packer {
  /** The scan that was asked for last is the last. */
  const recent = new Map<string, WeakMap<object, Part>>();
  let parts = 0;

  function partsOf(scanKey: string): WeakMap<object, Part> {
    const known = recent.get(scanKey) ?? new WeakMap<object, Part>();
    recent.delete(scanKey);
    recent.set(scanKey, known);
    const [oldest] = recent.keys();
    if (recent.size > scans && oldest !== undefined) recent.delete(oldest);
    return known;
  }

  return (scanKey, seen) => {
    const known = partsOf(scanKey);
    return namesOf(seen).flatMap((name) => {
      const observation = seen[name];
      if (observation === undefined) return [];
      // Observations are frozen, so identity will do.
      const part = known.get(observation) ?? { part: ++parts, value: pack(observation) };
      known.set(observation, part);
      return [{ name, ...part }];
    });
  };
}

function namesOf(seen: Partial<Observations>): readonly ObservationName[] {
  // Object.keys forgets the key type; the parameter's type has just stated it.
  return Object.keys(seen) as ObservationName[];
}
