import type { JsonValue } from '../../model/json.ts';

/** While a third party does not answer, the last verdict that rests on it is reused for at most this long. */
export const VERDICT_LIFETIME_MS = 30 * 24 * 3_600_000;

export type EcosystemSnapshot = {
  /** Name of the index, listing or chain. */
  readonly source: string;
  /** The question to the source. */
  readonly key: string;
  readonly takenAtMs: number;
  /** At most 8 MiB as JSON; `too_large` otherwise. */
  readonly data: JsonValue;
};

/** Last good answers of third parties, and the last verdicts that were drawn from them. */
export type SnapshotStore = {
  /** Replaces an older one; an older one never replaces a newer. Kept 90 days. */
  put(snapshot: EcosystemSnapshot): Promise<void>;

  get(source: string, key: string): Promise<EcosystemSnapshot | null>;

  /** The last determined verdict of a check for a host. */
  putVerdict(verdict: {
    readonly host: string;
    readonly checkId: string;
    readonly atMs: number;
    readonly data: JsonValue;
  }): Promise<void>;

  /** Returns the host's verdicts that are at most 30 days old, by check id. */
  verdicts(
    host: string,
  ): Promise<ReadonlyMap<string, { readonly atMs: number; readonly data: JsonValue }>>;
};
