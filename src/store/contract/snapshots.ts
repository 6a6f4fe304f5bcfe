import type { JsonValue } from '../../model/json.ts';

export type EcosystemSnapshot = {
  /** Name of the index, listing or chain. */
  readonly source: string;
  /** The question to the source. */
  readonly key: string;
  readonly takenAtMs: number;
  /** At most 8 MiB as JSON; `too_large` otherwise. */
  readonly data: JsonValue;
};

/** Last good answers of third parties. */
export type SnapshotStore = {
  /** Replaces an older one; an older one never replaces a newer. Kept 90 days. */
  put(snapshot: EcosystemSnapshot): Promise<void>;

  get(source: string, key: string): Promise<EcosystemSnapshot | null>;
};
