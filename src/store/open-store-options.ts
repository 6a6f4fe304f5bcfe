import type { Owner } from './contract/owner.ts';

/** Options of `openStore(url, options)`; each may be left out. */
export type OpenStoreOptions = {
  /** Default: this machine's name, and a random id of this start. */
  readonly owner?: Owner | undefined;
  /** Milliseconds since the epoch; tests move it. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** For tests only: a factor on the times of heartbeats and silence. Default 1. */
  readonly timeScale?: number | undefined;
  /** Time that a remote database may take to answer at the start; default 5000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Called with background failures that no call reports, such as a missed heartbeat. */
  readonly onError?: ((message: string, error: unknown) => void) | undefined;
};
