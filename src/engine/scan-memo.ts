import { LRUCache } from 'lru-cache';
import { deserializeFrozen, textBytes } from '../parse/json/transfer.ts';
import type { Kit } from '../parse/kit/kit.ts';
import { createKit } from '../parse/kit/kit.ts';
import type { SerializedObservation } from './observation-serializer.ts';

/** Bytes of text that are cached; values parsed from it take several times as much. */
const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_KEPT_SCANS = 8;

type Kept = {
  readonly kit: Kit;
  /** Deserialized observations by their part. */
  readonly values: Map<number, unknown>;
  readonly bytes: number;
};

/**
 * A worker's cache between the checks of a scan: the kit with its parsed documents, and the observations,
 * frozen and each deserialized once. Workers alternate between scans, so several small scans are cached; a
 * large one is cached alone, which bounds memory to one scan.
 */
export class ScanMemo {
  readonly #recent = new LRUCache<string, Kept>({
    max: MAX_KEPT_SCANS,
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ bytes }) => Math.min(1 + bytes, MAX_KEPT_BYTES),
  });

  recall(scanKey: string, serialized: readonly SerializedObservation[]) {
    const before = this.#recent.get(scanKey);
    const kit = before?.kit ?? createKit();
    const values = before?.values ?? new Map<number, unknown>();
    const added = serialized.filter(({ part }) => !values.has(part));
    const bytes = added.reduce((sum, { value }) => sum + textBytes(value), before?.bytes ?? 0);
    // Older texts are dropped before this one is parsed, so that memory never holds both.
    this.#recent.set(scanKey, { kit, values, bytes });
    for (const { part, value } of added) values.set(part, deserializeFrozen(value));
    const seen = serialized.map(({ name, part }) => [name, values.get(part)] as const);
    return { kit, seen: Object.freeze(Object.fromEntries(seen)) };
  }
}
