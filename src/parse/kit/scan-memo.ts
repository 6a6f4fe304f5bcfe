/**
 * What a worker keeps between the checks of one scan: the kit with its parsed documents, and the
 * unpacked observations. Only the last scan is kept, so memory stays that of one scan.
 */

import type { PackedObservation } from '../../engine/pool/job.ts';
import { unpackFrozen } from '../../engine/pool/transfer.ts';
import { createKit } from './create-kit.ts';
import type { Kit } from './kit.ts';

export type ScanMemo = {
  kit(scanKey: string): Kit;
  /** Frozen observations by name, each unpacked once a scan. */
  seen(scanKey: string, packed: readonly PackedObservation[]): Readonly<Record<string, unknown>>;
  /** After a failure nothing that was computed is trusted. */
  forget(): void;
};

export function createScanMemo(): ScanMemo {
  let current: { scanKey: string; kit: Kit; parts: Map<number, unknown> } | null = null;

  function open(scanKey: string) {
    if (current?.scanKey !== scanKey) current = { scanKey, kit: createKit(), parts: new Map() };
    return current;
  }

  return {
    kit: (scanKey) => open(scanKey).kit,
    seen(scanKey, packed) {
      const { parts } = open(scanKey);
      const entries = packed.map(({ name, part, value }) => {
        if (!parts.has(part)) parts.set(part, unpackFrozen(value));
        return [name, parts.get(part)] as const;
      });
      return Object.freeze(Object.fromEntries(entries));
    },
    forget() {
      current = null;
    },
  };
}
