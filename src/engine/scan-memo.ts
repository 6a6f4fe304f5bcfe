import { deserializeFrozen, textBytes } from '../parse/json/transfer.ts';
import { createKit } from '../parse/kit/create-kit.ts';
import type { Kit } from '../parse/kit/kit.ts';
import type { SerializedObservation } from './observation-serializer.ts';

/**
 * A worker's cache between the checks of a scan: the kit with its parsed documents, and the observations.
 * Workers alternate between scans, so several small scans are cached; a large one is cached alone, which
 * bounds memory to one scan.
 */
export type ScanMemo = {
  kit(scanKey: string): Kit;
  /** Returns frozen observations by name, each deserialized once a scan. */
  seen(
    scanKey: string,
    serialized: readonly SerializedObservation[],
  ): Readonly<Record<string, unknown>>;
};

type Kept = { readonly kit: Kit; readonly parts: Map<number, unknown>; bytes: number };

/** Bytes of text that are cached; values parsed from it take several times as much. */
const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_KEPT_SCANS = 8;

export function createScanMemo(): ScanMemo {
  /** In order of use; the most recently used scan is last. */
  const recent = new Map<string, Kept>();

  function open(scanKey: string): Kept {
    const kept = recent.get(scanKey) ?? { kit: createKit(), parts: new Map(), bytes: 0 };
    recent.delete(scanKey);
    recent.set(scanKey, kept);
    return kept;
  }

  function dropOldest(): void {
    let bytes = [...recent.values()].reduce((sum, kept) => sum + kept.bytes, 0);
    for (const [scanKey, kept] of recent) {
      if (recent.size === 1 || (bytes <= MAX_KEPT_BYTES && recent.size <= MAX_KEPT_SCANS)) return;
      recent.delete(scanKey);
      bytes -= kept.bytes;
    }
  }

  return {
    kit: (scanKey) => open(scanKey).kit,
    seen(scanKey, serialized) {
      const kept = open(scanKey);
      for (const { part, value } of serialized) {
        if (!kept.parts.has(part)) kept.bytes += textBytes(value);
      }
      // Older texts are dropped before this one is parsed, so that memory never holds both.
      dropOldest();
      const entries = serialized.map(({ name, part, value }) => {
        if (!kept.parts.has(part)) kept.parts.set(part, deserializeFrozen(value));
        return [name, kept.parts.get(part)] as const;
      });
      return Object.freeze(Object.fromEntries(entries));
    },
  };
}
