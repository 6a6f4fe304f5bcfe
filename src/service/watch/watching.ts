import { withLease } from '../turns/in-turn.ts';
import { Rounds } from '../turns/rounds.ts';
import { changeLive, endLive, findWatch, queueEvents } from './change-watch.ts';
import { type DeliveryResult, deliverDue } from './deliveries.ts';
import { toPhase, type WatchState } from './state.ts';
import { type LookKind, WatchLook, type WatchLookOptions } from './watch-look.ts';

export type WatchingEvent =
  | { readonly kind: 'look'; readonly look: LookKind; readonly lateMs: number }
  | { readonly kind: 'delivery'; readonly result: DeliveryResult; readonly ms: number };

export type WatchingOptions = WatchLookOptions & {
  readonly onEvent?: ((event: WatchingEvent) => void) | undefined;
};

/** Longer than a look takes with its waits, its scan, six requests and the reading of the file. */
const LOOK_LEASE_MS = 240_000;
const MAX_LOOKS = 128;
const MAX_RECEIVERS = 256;

/** Looks at watched origins, and delivers events. Instances that share a store share the work. */
export class Watching {
  readonly #options: WatchingOptions;
  readonly #looks: Rounds;
  readonly #sends: Rounds;

  constructor(options: WatchingOptions) {
    this.#options = options;
    const { store, onError } = options;
    const { watches } = store;
    const dueTasksUnread = 'watch: the due work was not read';
    const shared = { now: () => store.now(), onError };
    this.#looks = new Rounds({
      ...shared,
      maxRunning: MAX_LOOKS,
      findFirstDueMs: () => watches.findFirstDueMs('lookAtMs'),
      readDue: (due) => watches.findDueLooks(due),
      runTask: (host) => this.#lookAt(host),
      messages: { dueTasksUnread, taskFailed: 'watch: a look failed' },
    });
    this.#sends = new Rounds({
      ...shared,
      maxRunning: MAX_RECEIVERS,
      findFirstDueMs: () => watches.findFirstDueMs('sendAtMs'),
      readDue: (due) => watches.findDueReceivers(due),
      runTask: (receiver) => this.#sendTo(receiver),
      messages: { dueTasksUnread, taskFailed: 'watch: a send failed' },
    });
  }

  start(): void {
    this.#looks.start();
    this.#sends.start();
  }

  /** Begins all due looks and deliveries. Resolves when they have begun. */
  async tick(): Promise<void> {
    await Promise.all([this.#looks.tick(), this.#sends.tick()]);
  }

  /** Compares a scan that was just published, if its host is watched. */
  onPublished(host: string): void {
    this.#looks.begin(host, () =>
      this.#withLease(host, async () => {
        const watch = await findWatch(this.#options.store, host);
        if (watch === null || toPhase(watch) !== 'active') return;
        await this.#comparePublished(new WatchLook(this.#options, watch));
      }),
    );
  }

  /** Resolves when no look and no delivery is running. */
  async idle(): Promise<void> {
    while (this.#looks.size + this.#sends.size > 0) {
      await Promise.all([this.#looks.idle(), this.#sends.idle()]);
    }
  }

  /** Times by which the most overdue look and the most overdue delivery are late. */
  get lateness() {
    return { looksMs: this.#looks.latenessMs, deliveriesMs: this.#sends.latenessMs };
  }

  /** Begins nothing more, and waits up to `graceMs` for running looks and deliveries. */
  async stop(graceMs = 0): Promise<void> {
    await Promise.all([this.#looks.stop(graceMs), this.#sends.stop(graceMs)]);
  }

  #sendTo(receiver: string): Promise<void> {
    const onDelivery = (result: DeliveryResult, ms: number) =>
      this.#options.onEvent?.({ kind: 'delivery', result, ms });
    return deliverDue({ ...this.#options, onDelivery }, receiver);
  }

  #withLease(host: string, work: () => Promise<void>): Promise<void> {
    return withLease(this.#options.store, ['look', host], LOOK_LEASE_MS, work);
  }

  #lookAt(host: string): Promise<void> {
    return this.#withLease(host, async () => {
      const { store, onEvent } = this.#options;
      const watch = await this.#endOrAnnounceEnd(host);
      const dueAtMs = watch?.nextLookAtMs ?? null;
      if (watch === null || dueAtMs === null || dueAtMs > store.now()) return;
      const lateMs = store.now() - dueAtMs;
      const look = new WatchLook(this.#options, watch);
      await this.#comparePublished(look);
      const kind = await look.run();
      onEvent?.({ kind: 'look', look: kind, lateMs });
      await look.renew();
    });
  }

  async #comparePublished(look: WatchLook): Promise<void> {
    if (!(await look.comparePublished())) return;
    this.#options.onEvent?.({ kind: 'look', look: 'published', lateMs: 0 });
    await look.renew();
  }

  /** Ends the watch at its end time, and announces the end some days before. Returns null for an ended watch. */
  async #endOrAnnounceEnd(host: string): Promise<WatchState | null> {
    const { store, timing, siteUrl } = this.#options;
    const watch = await findWatch(store, host);
    if (watch === null || watch.endedAtMs !== null) return null;
    const { agreedAtMs, createdAtMs, endsAtMs, isEndTold } = watch;
    const nowMs = store.now();
    const isNotAgreed = agreedAtMs === null && nowMs >= createdAtMs + timing.agreeWithinMs;
    if (isNotAgreed || nowMs >= endsAtMs) {
      await endLive(this.#options, watch);
      return null;
    }
    const isEnding = agreedAtMs !== null && nowMs >= endsAtMs - timing.tellEndMs;
    if (!isEnding || isEndTold) return watch;
    const more = { endsAt: new Date(endsAtMs).toISOString() };
    const event = { type: 'watch.ending', more } as const;
    return changeLive(this.#options, watch, (state) =>
      queueEvents({ ...state, isEndTold: true }, [event], { nowMs, siteUrl }),
    );
  }
}
