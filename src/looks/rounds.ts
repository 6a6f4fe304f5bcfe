/** The loop that begins due work. Instances that share a store share the work by leases. */
import { setTimeout as pause } from 'node:timers/promises';
import type { DueOptions } from '../store/watches.ts';
import { NoPlace } from './in-turn.ts';

export type RoundsOptions = {
  /** Largest number of begun works, most of which wait for their turn. */
  readonly atOnce: number;
  readonly now: () => number;
  /** Time at which the first work falls due; null if none is planned. */
  readonly firstDueMs: () => Promise<number | null>;
  /** The names of due work, most urgent first. */
  readonly readDue: (due: DueOptions) => Promise<readonly string[]>;
  /** Rejects with NoPlace if a limit leaves no room; the work is then tried again soon. */
  readonly work: (name: string) => Promise<void>;
  /** Messages for `onError`. */
  readonly messages: { readonly unread: string; readonly failed: string };
  readonly onError: (message: string, error: unknown) => void;
};

const TICK_MS = 1_000;
/** Wait before work that found no room is tried again. */
const AGAIN_MS = 5_000;

/** Runs one work at a time for each name. */
export class Rounds {
  readonly #options: RoundsOptions;
  readonly #running = new Map<string, Promise<void>>();
  readonly #notBefore = new Map<string, number>();
  #isTicking = false;
  #lateMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#tickSafely();
    this.#timer = setInterval(() => void this.#tickSafely(), TICK_MS);
    this.#timer.unref();
  }

  /** Begins all due work; resolves once it has begun. */
  async tick(): Promise<void> {
    const { atOnce, now, firstDueMs, readDue, work } = this.#options;
    for (;;) {
      const nowMs = now();
      for (const [name, atMs] of this.#notBefore) if (atMs <= nowMs) this.#notBefore.delete(name);
      this.#lateMs = Math.max(0, nowMs - ((await firstDueMs()) ?? nowMs));
      const limit = Math.max(0, atOnce - this.#running.size);
      const except = [...this.#running.keys(), ...this.#notBefore.keys()];
      const names = limit === 0 ? [] : await readDue({ upToMs: nowMs, limit, except });
      for (const name of names) this.begin(name, () => work(name));
      if (names.length < limit || this.#isStopped) return;
      // There may be more, which begins as soon as other work ends.
      await Promise.race(this.#running.values());
    }
  }

  begin(name: string, work: () => Promise<void>): void {
    if (this.#running.has(name) || this.#isStopped) return;
    const { now, messages, onError } = this.#options;
    const ended = work()
      .catch((error: unknown) => {
        this.#notBefore.set(name, now() + AGAIN_MS);
        if (!(error instanceof NoPlace || this.#isStopped)) onError(messages.failed, error);
      })
      .finally(() => this.#running.delete(name));
    this.#running.set(name, ended);
  }

  /** Number of works that run or wait for their turn. */
  get size(): number {
    return this.#running.size;
  }

  /** Resolves when no work is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Time in ms that the most overdue work has waited. */
  get latenessMs(): number {
    return this.#lateMs;
  }

  /** Begins no more work, and waits up to `graceMs` for running work. */
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
      if (!this.#isStopped) this.#options.onError(this.#options.messages.unread, error);
    } finally {
      this.#isTicking = false;
    }
  }
}
