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
  /** True when the next look confirms what an earlier one saw; such looks come first. */
  readonly isConfirming: boolean | null;
  /** The host and port that deliveries go to. */
  readonly receiver: string;
  /** Registrable domain of the host. */
  readonly domain: string | null;
  /** Key of the client that made the watch. */
  readonly client: string | null;
  /** True once the receiver has agreed: the watch counts among those of its receiver. */
  readonly holdsPlace: boolean | null;
  readonly state: JsonObject;
};

/** A text that a version refers to: the body of an event, or the state that the next look is compared with. */
export type WatchText = { readonly id: string; readonly text: string };

export type WatchDuty = 'lookAtMs' | 'sendAtMs';

export type DueOptions = {
  readonly upToMs: number;
  readonly limit: number;
  /** Hosts, or receivers, that are left out. */
  readonly except: readonly string[];
};

/** Selects watches that have not ended. */
export type LiveWatches = Partial<
  Pick<WatchVersion, 'domain' | 'receiver' | 'client' | 'holdsPlace'>
>;

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

  /** Hosts whose look is due: those with a confirming look, then the others, each earliest first. */
  dueLooks(options: DueOptions): Promise<readonly string[]>;

  /** Receivers to which a delivery is due, each once, earliest first, however many are due to one of them. */
  dueReceivers(options: DueOptions): Promise<readonly string[]>;

  /** Watches of a receiver that have a delivery due, earliest first. */
  dueSends(receiver: string, options: Omit<DueOptions, 'except'>): Promise<readonly WatchVersion[]>;

  /** Time of the earliest duty of any watch; null when none is planned. */
  firstDutyMs(duty: WatchDuty): Promise<number | null>;

  /** At most `limit`, in no order. Reads what racing writers have stored so far. */
  live(which: LiveWatches, limit: number): Promise<readonly WatchVersion[]>;
};
