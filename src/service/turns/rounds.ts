/** Begins the tasks of watches and census when they are due. */
import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { DueOptions } from '../store/watches.ts';
import { LimitReached } from './origin-turns.ts';

export const SECONDS_PER_DAY = 86_400;

/** Returns a second of the day, 0 to 86,399, computed from a hash of the name, so that daily work spreads over the UTC day. */
export function secondOfDay(name: string): number {
  return Number.parseInt(hash('sha256', name).slice(0, 12), 16) % SECONDS_PER_DAY;
}

type RoundsOptions = {
  /** Limit of tasks that run or wait for their turn. */
  readonly maxRunning: number;
  readonly now: () => number;
  /** Time at which the earliest task is due; null if none is planned. */
  readonly findFirstDueMs: () => Promise<number | null>;
  /** The names of due tasks, most urgent first. */
  readonly readDue: (due: DueOptions) => Promise<readonly string[]>;
  /** Rejects with LimitReached if a limit forbids the task now. The task is then tried again soon. */
  readonly runTask: (name: string) => Promise<void>;
  readonly messages: { readonly dueTasksUnread: string; readonly taskFailed: string };
  readonly onError: (message: string, error: unknown) => void;
};

const TICK_MS = 1_000;
/** Wait before a failed or rejected task is tried again. */
const RETRY_AFTER_MS = 5_000;

/** Begins due tasks every second. Two tasks with the same name never run at the same time. */
export class Rounds {
  readonly #options: RoundsOptions;
  readonly #running = new Map<string, Promise<void>>();
  /** Times at which failed and rejected tasks may begin again. */
  readonly #retryAtMs = new Map<string, number>();
  #isTicking = false;
  #latenessMs = 0;
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

  /** Begins all due tasks. Resolves when they have begun. */
  async tick(): Promise<void> {
    const { maxRunning, now, findFirstDueMs, readDue, runTask } = this.#options;
    for (;;) {
      const nowMs = now();
      for (const [name, atMs] of this.#retryAtMs) if (atMs <= nowMs) this.#retryAtMs.delete(name);
      this.#latenessMs = Math.max(0, nowMs - ((await findFirstDueMs()) ?? nowMs));
      const limit = Math.max(0, maxRunning - this.#running.size);
      const except = [...this.#running.keys(), ...this.#retryAtMs.keys()];
      const names = limit === 0 ? [] : await readDue({ upToMs: nowMs, limit, except });
      for (const name of names) this.begin(name, () => runTask(name));
      if (names.length < limit || this.#isStopped) return;
      // More tasks may be due. They begin when a running task ends.
      await Promise.race(this.#running.values());
    }
  }

  /** Begins a task, unless a task of this name runs. */
  begin(name: string, task: () => Promise<void>): void {
    if (this.#running.has(name) || this.#isStopped) return;
    const { now, messages, onError } = this.#options;
    const ended = task()
      .catch((error: unknown) => {
        this.#retryAtMs.set(name, now() + RETRY_AFTER_MS);
        if (!(error instanceof LimitReached || this.#isStopped))
          onError(messages.taskFailed, error);
      })
      .finally(() => this.#running.delete(name));
    this.#running.set(name, ended);
  }

  /** Number of tasks that run or wait for their turn. */
  get size(): number {
    return this.#running.size;
  }

  /** Resolves when no task is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Time by which the most overdue task is late. */
  get latenessMs(): number {
    return this.#latenessMs;
  }

  /** Begins no more tasks, and waits up to `graceMs` for running ones. */
  async stop(graceMs = 0): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.race([this.idle(), pause(graceMs, undefined, { ref: false })]);
  }

  async #tickSafely(): Promise<void> {
    if (this.#isTicking || this.#isStopped) return;
    this.#isTicking = true;
    try {
      await this.tick();
    } catch (error) {
      if (!this.#isStopped) this.#options.onError(this.#options.messages.dueTasksUnread, error);
    } finally {
      this.#isTicking = false;
    }
  }
}
