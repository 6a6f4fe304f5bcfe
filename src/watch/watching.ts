import { setTimeout as pause } from 'node:timers/promises';
import type { DueOptions } from '../store/watches.ts';
import {
  addEvents,
  changeWatch,
  endWatch,
  findWatch,
  ifSame,
  NoPlace,
  underLease,
} from './change-watch.ts';
import { deliverDue, type PostWebhook, type Result } from './deliveries.ts';
import { Look, type LookKind, type LookOptions } from './look.ts';
import { toPhase, toWatchTiming, type WatchState, type WatchTiming } from './state.ts';

export type WatchingEvent =
  | { readonly kind: 'look'; readonly look: LookKind; readonly lateMs: number }
  | { readonly kind: 'delivery'; readonly result: Result; readonly ms: number };

export type WatchingOptions = Omit<LookOptions, 'timing'> & {
  readonly postWebhook: PostWebhook;
  readonly timing?: WatchTiming;
  readonly onEvent?: ((event: WatchingEvent) => void) | undefined;
};

type Kind = keyof typeof AT_ONCE;

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
/** Begun works of a kind, most of which wait for their turn. */
const AT_ONCE = { look: 128, send: 256 };
/** A look waits for its turns, and takes a scan, six requests and a file. */
const LOOK_LEASE_MS = 240_000;
/** Wait before work that found no room is tried again. */
const AGAIN_MS = 5_000;

export function createWatching(options: WatchingOptions): Watching {
  return new Rounds({ timing: toWatchTiming(), ...options });
}

class Rounds implements Watching {
  readonly #options: WatchingOptions & { readonly timing: WatchTiming };
  /** By host of a look, or receiver of a delivery. */
  readonly #running = {
    look: new Map<string, Promise<void>>(),
    send: new Map<string, Promise<void>>(),
  };
  readonly #notBefore = { look: new Map<string, number>(), send: new Map<string, number>() };
  readonly #isTicking = { look: false, send: false };
  readonly #lateMs = { look: 0, send: 0 };
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(options: WatchingOptions & { readonly timing: WatchTiming }) {
    this.#options = options;
  }

  start(): void {
    const tick = () => {
      for (const kind of ['look', 'send'] as const) void this.#tickSafely(kind);
    };
    tick();
    this.#timer = setInterval(tick, TICK_MS);
    this.#timer.unref();
  }

  async tick(): Promise<void> {
    await Promise.all([this.#beginDue('look'), this.#beginDue('send')]);
  }

  async #beginDue(kind: Kind): Promise<void> {
    const { store } = this.#options;
    const [running, notBefore] = [this.#running[kind], this.#notBefore[kind]];
    for (;;) {
      const nowMs = store.now();
      for (const [name, atMs] of notBefore) if (atMs <= nowMs) notBefore.delete(name);
      const firstMs = await store.watches.firstDutyMs(kind === 'look' ? 'lookAtMs' : 'sendAtMs');
      this.#lateMs[kind] = Math.max(0, nowMs - (firstMs ?? nowMs));
      const limit = Math.max(0, AT_ONCE[kind] - running.size);
      const due = { upToMs: nowMs, limit, except: [...running.keys(), ...notBefore.keys()] };
      const names = limit === 0 ? [] : await this.#readDue(kind, due);
      for (const name of names) this.#begin(kind, name, () => this.#work(kind, name));
      if (names.length < limit || this.#isStopped) return;
      // There may be more, which begins as soon as other work ends.
      await Promise.race(running.values());
    }
  }

  #readDue(kind: Kind, due: DueOptions): Promise<readonly string[]> {
    const { watches } = this.#options.store;
    return kind === 'look' ? watches.dueLooks(due) : watches.dueReceivers(due);
  }

  #work(kind: Kind, name: string): Promise<void> {
    if (kind === 'look') return this.#lookAt(name);
    const { store, timing, turns, postWebhook, onEvent } = this.#options;
    const onDelivery = (result: Result, ms: number) => onEvent?.({ kind: 'delivery', result, ms });
    return deliverDue({ store, timing, turns, postWebhook, onDelivery }, name);
  }

  published(host: string): void {
    this.#begin('look', host, () =>
      this.#underLease(host, async () => {
        const watch = await findWatch(this.#options.store, host);
        if (watch === null || toPhase(watch) !== 'active') return;
        await this.#compare(new Look(this.#options, watch));
      }),
    );
  }

  async idle(): Promise<void> {
    const { look, send } = this.#running;
    while (look.size + send.size > 0) await Promise.all([...look.values(), ...send.values()]);
  }

  lateness() {
    return { looksMs: this.#lateMs.look, deliveriesMs: this.#lateMs.send };
  }

  async stop(graceMs = 0): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    const waiting = new AbortController();
    const grace = pause(graceMs, undefined, { signal: waiting.signal }).catch(() => undefined);
    await Promise.race([this.idle(), grace]);
    waiting.abort();
  }

  async #tickSafely(kind: Kind): Promise<void> {
    if (this.#isTicking[kind] || this.#isStopped) return;
    this.#isTicking[kind] = true;
    try {
      await this.#beginDue(kind);
    } catch (error) {
      if (!this.#isStopped) this.#options.onError('watches are not read', error);
    } finally {
      this.#isTicking[kind] = false;
    }
  }

  /** Runs one work at a time for each name. */
  #begin(kind: Kind, name: string, work: () => Promise<void>): void {
    const [running, notBefore] = [this.#running[kind], this.#notBefore[kind]];
    if (running.has(name) || this.#isStopped) return;
    const ended = work()
      .catch((error: unknown) => {
        notBefore.set(name, this.#options.store.now() + AGAIN_MS);
        const isTold = error instanceof NoPlace || this.#isStopped;
        if (!isTold) this.#options.onError(`watch: a ${kind} failed`, error);
      })
      .finally(() => running.delete(name));
    running.set(name, ended);
  }

  #underLease(host: string, work: () => Promise<void>): Promise<void> {
    return underLease(this.#options.store, ['look', host], LOOK_LEASE_MS, work);
  }

  #lookAt(host: string): Promise<void> {
    return this.#underLease(host, async () => {
      const { store, onEvent } = this.#options;
      const watch = await this.#tellTimes(host);
      const dueAtMs = watch?.nextLookAtMs ?? null;
      if (watch === null || dueAtMs === null || dueAtMs > store.now()) return;
      const lateMs = store.now() - dueAtMs;
      const look = new Look(this.#options, watch);
      await this.#compare(look);
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
      await this.#change(watch, (state) => ({ state: endWatch(state, nowMs) }));
      return null;
    }
    const isEnding = agreedAtMs !== null && nowMs >= endsAtMs - timing.tellEndMs;
    if (!isEnding || isEndTold) return watch;
    const more = { endsAt: new Date(endsAtMs).toISOString() };
    const event = { type: 'watch.ending', before: null, after: null, more } as const;
    return this.#change(watch, (state) =>
      addEvents({ ...state, isEndTold: true }, [event], { nowMs, siteUrl }),
    );
  }

  #change(watch: WatchState, next: Parameters<typeof ifSame>[1]): Promise<WatchState | null> {
    const { store, timing } = this.#options;
    return changeWatch({ store, timing }, watch.host, ifSame(watch, next));
  }
}
