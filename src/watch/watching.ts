import { setTimeout as pause } from 'node:timers/promises';
import type { ScanCoordinator } from '../scan/scan-coordinator.ts';
import { changeWatch, endWatch, findWatch, ifSame } from './change-watch.ts';
import { deliverDue } from './deliveries.ts';
import type { PostWebhook, Result } from './delivery.ts';
import { addEvents } from './events.ts';
import { Look, type LookKind, type LookOptions } from './look.ts';
import { freePlaces } from './places.ts';
import { countExtraLooks, findSlotMs, isExtraLook } from './plan.ts';
import { toPhase, type WatchState } from './state.ts';
import { toWatchTiming, type WatchTiming } from './timing.ts';
import { NoPlace, underLease } from './under-lease.ts';

export type WatchStep = 'look-seen' | 'look-stored' | 'event-sent' | 'delivery-stored';

export type WatchingEvent =
  | { readonly kind: 'look'; readonly look: LookKind; readonly lateMs: number }
  | { readonly kind: 'delivery'; readonly result: Result; readonly ms: number };

export type WatchingOptions = Omit<LookOptions, 'timing' | 'onStep'> & {
  readonly scanCoordinator: Pick<ScanCoordinator, 'run' | 'running'>;
  readonly postWebhook: PostWebhook;
  readonly timing?: WatchTiming;
  readonly onEvent?: ((event: WatchingEvent) => void) | undefined;
  /** Tests end the process at a step. */
  readonly onStep?: ((step: WatchStep) => void) | undefined;
};

/** Looks at watched origins and delivers events. Hosts that share a store share the work. */
export type Watching = {
  start(): void;
  /** Begins all due work; resolves once it has begun. */
  tick(): Promise<void>;
  /** Compares a scan that was just published, if its host is watched. */
  published(host: string): void;
  /** Resolves when no work is running. */
  idle(): Promise<void>;
  /** The time in ms that the most overdue look and delivery have waited. */
  lateness(): { readonly looksMs: number; readonly deliveriesMs: number };
  /** Begins no more work, and waits up to `graceMs` for running work. */
  stop(graceMs?: number): Promise<void>;
};

const TICK_MS = 1_000;
const LOOKS_AT_ONCE = 16;
const LOOKS_BESIDE_PAID_SCANS = 4;
const RECEIVERS_AT_ONCE = 64;
/** Read beyond the number of running works, because due rows include those that run already. */
const READ_BEYOND_RUNNING = 64;
/** A look takes a scan, six requests and a file. */
const LOOK_LEASE_MS = 180_000;
/** Wait before work that found no room is tried again. */
const AGAIN_MS = 5_000;
const MINUTE_MS = 60_000;
const COUNT_EVERY_MS = 10 * MINUTE_MS;

export function createWatching(options: WatchingOptions): Watching {
  return new Rounds({ timing: toWatchTiming(), ...options });
}

class Rounds implements Watching {
  readonly #options: WatchingOptions & { readonly timing: WatchTiming };
  /** By kind and host or receiver. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #notBefore = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #isTicking = false;
  #isStopped = false;
  #counted = { atMs: Number.NEGATIVE_INFINITY, watches: 0 };
  #late = { looksMs: 0, deliveriesMs: 0 };

  constructor(options: WatchingOptions & { readonly timing: WatchTiming }) {
    this.#options = options;
  }

  start(): void {
    void this.#tickSafely();
    this.#timer = setInterval(() => void this.#tickSafely(), TICK_MS);
    this.#timer.unref();
  }

  async tick(): Promise<void> {
    // Work that found no room begins as soon as other work ends, not at the next tick.
    while ((await this.#beginDue()) && !this.#isStopped) {
      if (this.#running.size > 0) await Promise.race(this.#running.values());
    }
  }

  /** Returns true when some due work found no room. */
  async #beginDue(): Promise<boolean> {
    const { store, timing, postWebhook, onStep, onEvent, scanCoordinator } = this.#options;
    const nowMs = store.now();
    for (const [key, atMs] of this.#notBefore) if (atMs <= nowMs) this.#notBefore.delete(key);
    const limit = this.#running.size + this.#notBefore.size + READ_BEYOND_RUNNING;
    const sends = await store.watches.due('sendAtMs', nowMs, limit);
    const looks = await store.watches.due('lookAtMs', nowMs, limit);
    const lateBy = (atMs: number | null | undefined) => Math.max(0, nowMs - (atMs ?? nowMs));
    this.#late = { looksMs: lateBy(looks[0]?.lookAtMs), deliveriesMs: lateBy(sends[0]?.sendAtMs) };
    const onDelivery = (result: Result, ms: number) => onEvent?.({ kind: 'delivery', result, ms });
    const sending = { store, timing, postWebhook, onStep, onDelivery };
    let isCrowded = false;
    for (const [receiver, due] of Map.groupBy(sends, (one) => one.receiver)) {
      const work = () => deliverDue(sending, receiver, due);
      isCrowded = !this.#begin('send', receiver, RECEIVERS_AT_ONCE, work) || isCrowded;
    }
    const atOnce = scanCoordinator.running() > 0 ? LOOKS_BESIDE_PAID_SCANS : LOOKS_AT_ONCE;
    for (const { host } of looks) {
      isCrowded = !this.#begin('look', host, atOnce, () => this.#lookAt(host)) || isCrowded;
    }
    return isCrowded;
  }

  published(host: string): void {
    this.#begin('look', host, Number.POSITIVE_INFINITY, () =>
      this.#underLease(host, async () => {
        const watch = await findWatch(this.#options.store, host);
        if (watch === null || toPhase(watch) !== 'active') return;
        await this.#compare(new Look(this.#options, watch));
      }),
    );
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  lateness() {
    return this.#late;
  }

  async stop(graceMs = 0): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    const waiting = new AbortController();
    const grace = pause(graceMs, undefined, { signal: waiting.signal }).catch(() => undefined);
    await Promise.race([this.idle(), grace]);
    waiting.abort();
  }

  async #tickSafely(): Promise<void> {
    if (this.#isTicking || this.#isStopped) return;
    this.#isTicking = true;
    try {
      await this.tick();
    } catch (error) {
      if (!this.#isStopped) this.#options.onError('watches are not read', error);
    } finally {
      this.#isTicking = false;
    }
  }

  /** Runs one work at a time for each name, and at most `atOnce` of a kind. Returns false when there is no room. */
  #begin(kind: 'look' | 'send', name: string, atOnce: number, work: () => Promise<void>): boolean {
    const key = `${kind} ${name}`;
    const alike = [...this.#running.keys()].filter((one) => one.startsWith(`${kind} `));
    if (this.#running.has(key) || this.#isStopped || this.#notBefore.has(key)) return true;
    if (alike.length >= atOnce) return false;
    const running = work()
      .catch((error: unknown) => {
        this.#notBefore.set(key, this.#options.store.now() + AGAIN_MS);
        const isTold = error instanceof NoPlace || this.#isStopped;
        if (!isTold) this.#options.onError(`watch: a ${kind} failed`, error);
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return true;
  }

  #underLease(host: string, work: () => Promise<void>): Promise<void> {
    return underLease(this.#options.store, `watch:${host}`, LOOK_LEASE_MS, work);
  }

  #lookAt(host: string): Promise<void> {
    return this.#underLease(host, async () => {
      const { store, timing, onEvent } = this.#options;
      const watch = await this.#tellTimes(host);
      const dueAtMs = watch?.nextLookAtMs ?? null;
      if (watch === null || dueAtMs === null || dueAtMs > store.now()) return;
      const lateMs = store.now() - dueAtMs;
      const look = new Look(this.#options, watch);
      await this.#compare(look);
      if (isExtraLook(watch, store.now(), timing) && !(await this.#mayLookMore())) {
        const nextLookAtMs = findSlotMs(host, store.now(), timing);
        await this.#change(watch, (held) => ({ state: { ...held, nextLookAtMs } }));
        return;
      }
      const kind = await look.run();
      onEvent?.({ kind: 'look', look: kind, lateMs });
      await look.renew();
    });
  }

  async #compare(look: Look): Promise<void> {
    if (!(await look.comparePublished())) return;
    this.#options.onEvent?.({ kind: 'look', look: 'published', lateMs: 0 });
    await look.renew();
  }

  /** Ends the watch when its time is over, or announces its end when that is due. Null for an ended watch. */
  async #tellTimes(host: string): Promise<WatchState | null> {
    const { store, timing, siteUrl } = this.#options;
    const watch = await findWatch(store, host);
    if (watch === null || watch.endedAtMs !== null) return null;
    const { agreedAtMs, createdAtMs, endsAtMs, isEndTold } = watch;
    const nowMs = store.now();
    const isLate = agreedAtMs === null && nowMs >= createdAtMs + timing.agreeWithinMs;
    if (isLate || nowMs >= endsAtMs) {
      await this.#change(watch, (held) => ({ state: endWatch(held, nowMs) }));
      await freePlaces(store, watch.places);
      return null;
    }
    const isEnding = agreedAtMs !== null && nowMs >= endsAtMs - timing.tellEndMs;
    if (!isEnding || isEndTold) return watch;
    const more = { endsAt: new Date(endsAtMs).toISOString() };
    const event = { type: 'watch.ending', before: null, after: null, more } as const;
    return this.#change(watch, (held) =>
      addEvents({ ...held, isEndTold: true }, [event], { nowMs, siteUrl }),
    );
  }

  /** Limits looks off their hour, so that no ten minutes have over 1.5 times their share of all looks. */
  async #mayLookMore(): Promise<boolean> {
    const { store } = this.#options;
    const nowMs = store.now();
    if (nowMs - this.#counted.atMs >= COUNT_EVERY_MS) {
      this.#counted = { atMs: nowMs, watches: await store.watches.count() };
    }
    const { count } = await store.limits.hit('extra looks', MINUTE_MS);
    return count <= countExtraLooks(this.#counted.watches);
  }

  #change(watch: WatchState, next: Parameters<typeof ifSame>[1]): Promise<WatchState | null> {
    const { store, timing } = this.#options;
    return changeWatch({ store, timing }, watch.host, ifSame(watch, next));
  }
}
