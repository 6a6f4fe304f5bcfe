import type { JsonObject } from '../../model/json.ts';
import type { InsertOutcome } from './insert-outcome.ts';

/** How long what has ended is kept. */
export const ENDED_WATCH_MS = 30 * 24 * 3_600_000;

/** The state of a host's watch, whole, as it is from this number on. */
export type WatchVersion = {
  readonly host: string;
  /** 1, 2, 3 … for each host: the greatest number is what holds. */
  readonly n: number;
  /** When something is next to be done about the origin; null: never. */
  readonly lookAtMs: number | null;
  /** When the next try of a delivery is due; null: none waits. */
  readonly sendAtMs: number | null;
  readonly endedAtMs: number | null;
  /** The host and port that deliveries go to. */
  readonly receiver: string;
  readonly state: JsonObject;
};

/** A text that a version refers to: the body of an event, or what the next look is compared with. */
export type WatchText = { readonly id: string; readonly text: string };

export type WatchDuty = 'lookAtMs' | 'sendAtMs';

/**
 * Watches as versions. To change one is to insert the number after the one that was read, with the
 * texts that are new in it, so that of racing writers one wins, and a version and its texts are there
 * together or not at all.
 */
export type WatchStore = {
  newest(host: string): Promise<WatchVersion | null>;

  /**
   * On `lost`: read the newest again, and decide anew.
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

  /** How many hosts are watched now. */
  count(): Promise<number>;
};
