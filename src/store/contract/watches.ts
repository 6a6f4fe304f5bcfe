import type { JsonObject } from '../../model/json.ts';
import type { InsertOutcome } from './insert-outcome.ts';

/** An ended watch is kept for this long. */
export const ENDED_WATCH_MS = 30 * 24 * 3_600_000;

/** One version of a host's watch: the whole state, valid until a greater number is inserted. */
export type WatchVersion = {
  readonly host: string;
  /** 1, 2, 3 … for each host; the version with the greatest number is current. */
  readonly n: number;
  /** Time of the next look at the origin; null when none is planned. */
  readonly lookAtMs: number | null;
  /** Time of the next try of a delivery; null when none waits. */
  readonly sendAtMs: number | null;
  readonly endedAtMs: number | null;
  /** The host and port that deliveries go to. */
  readonly receiver: string;
  readonly state: JsonObject;
};

/** A text that a version refers to: the body of an event, or the state that the next look is compared with. */
export type WatchText = { readonly id: string; readonly text: string };

export type WatchDuty = 'lookAtMs' | 'sendAtMs';

/**
 * Watches as versions. A writer inserts the number after the one it has read, together with the new
 * texts. Of racing writers one wins, and a version is never stored without its texts.
 */
export type WatchStore = {
  newest(host: string): Promise<WatchVersion | null>;

  /**
   * On `lost` the caller reads the newest version again, and decides anew.
   * @param texts new ones; `attempt` is random
   * @param dropped ids that the version does not refer to any more
   */
  append(
    version: WatchVersion,
    change: {
      readonly attempt: string;
      readonly texts: readonly WatchText[];
      readonly dropped: readonly string[];
    },
  ): Promise<InsertOutcome>;

  text(id: string): Promise<string | null>;

  /** Newest versions that are due at `upToMs`, earliest first, at most `limit`. */
  due(duty: WatchDuty, upToMs: number, limit: number): Promise<readonly WatchVersion[]>;

  /** Number of hosts that are watched now. */
  count(): Promise<number>;
};
