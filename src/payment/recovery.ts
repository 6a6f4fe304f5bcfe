import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import type { Owner } from '../store/contract/owner.ts';
import type { Store } from '../store/contract/store.ts';
import { LedgerWriter, StepLost } from './ledger.ts';
import { type PublishByRoute, publishSettled } from './publisher.ts';
import type { Reconciler } from './reconciler.ts';

export interface RecoveryOptions {
  readonly store: Store;
  readonly reconciler: Reconciler;
  readonly publish: PublishByRoute;
  /** Keys that this process works on: not to be recovered. */
  readonly isInFlight: (key: string) => boolean;
  readonly onTrouble: (message: string, error: unknown) => void;
  readonly sweepIntervalMs?: number | undefined;
}

const SWEEP_INTERVAL_MS = 5_000;

/**
 * Ends what processes that died, or calls of this one that failed half-way, have left open. Nothing
 * waits for it: whoever meets a key before the sweep does settles its fate at once.
 */
export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Begins at once, in the background. */
  start(): void {
    this.#running = this.#repeat();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** One pass over all open keys. */
  async sweep(): Promise<void> {
    const isDead = this.#deathRegister();
    for await (const { key, last } of this.#options.store.ledger.unfinished()) {
      // The embedded store answers without a turn of the event loop: callers need one of their own.
      await turn();
      if (this.#stopped.signal.aborted) return;
      if (this.#isLookedAfter(key) || !(await isDead(last.owner))) continue;
      // What was read a moment ago may have gone on since.
      const entry = await this.#options.store.ledger.entry(key);
      if (entry !== null && !this.#isLookedAfter(key)) await this.#recover(entry);
    }
  }

  #isLookedAfter(key: string): boolean {
    return this.#options.isInFlight(key) || this.#options.reconciler.isWatching(key);
  }

  async #recover(entry: LedgerEntry): Promise<void> {
    const { store, reconciler, publish, onTrouble } = this.#options;
    const pen = LedgerWriter.onEntry(store.ledger, entry);
    try {
      switch (entry.last.state) {
        case 'claimed':
        case 'computed':
          return await pen.write('released', { reason: 'its owner is gone' });
        case 'settling':
        case 'unknown':
          return reconciler.watch(entry.key);
        case 'settled':
          return await publishSettled(publish, pen);
        default:
      }
    } catch (error) {
      if (!(error instanceof StepLost)) onTrouble(`recovering ${entry.key} failed`, error);
    }
  }

  /** Asks of each owner once a sweep. Calls of this process that are open are in flight. */
  #deathRegister(): (owner: Owner) => Promise<boolean> {
    const { store } = this.#options;
    const answers = new Map<string, Promise<boolean>>();
    return (owner) => {
      if (owner.boot === store.info.owner.boot) return Promise.resolve(true);
      const known =
        answers.get(owner.boot) ?? store.instances.isAlive(owner).then((alive) => !alive);
      answers.set(owner.boot, known);
      return known;
    };
  }

  async #repeat(): Promise<void> {
    const { sweepIntervalMs = SWEEP_INTERVAL_MS, onTrouble } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.sweep().catch((error: unknown) => onTrouble('a sweep of payments failed', error));
      await pause(sweepIntervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
