/**
 * Good answers of third parties, kept: while fresh they are not asked for again, and while the
 * source is down the last one stands in. Nothing but good answers gets here.
 */

import type { Look } from '../probe/observations.ts';
import type { Answer } from './ask-json.ts';

export type KeptAnswer = { readonly takenAtMs: number; readonly data: unknown };

/** Where answers outlive the process: the service's store, or files of the command line. */
export type SnapshotShelf = {
  get(source: string, key: string): Promise<KeptAnswer | null>;
  put(snapshot: {
    readonly source: string;
    readonly key: string;
    readonly takenAtMs: number;
    readonly data: unknown;
  }): Promise<void>;
  /** Now, in ms, by the clock that stamps the answers. */
  now(): number;
};

export type Question<T> = {
  readonly source: string;
  readonly key: string;
  /** Younger answers are not asked for again. */
  readonly cacheMs: number;
  ask(): Promise<Answer<T>>;
};

/** How long a last good answer may stand in for a source that is down. */
const STAND_IN_MS = 30 * 24 * 3_600_000;

export type AnswerShelf = {
  /** Never rejects; a broken shelf costs the cache, not the answer. */
  look<T>(question: Question<T>): Promise<Look<T>>;
};

export function createAnswerShelf(snapshots: SnapshotShelf): AnswerShelf {
  const underway = new Map<string, Promise<Look<unknown>>>();

  async function answer<T>({ source, key, cacheMs, ask }: Question<T>): Promise<Look<T>> {
    const kept = await snapshots.get(source, key).catch(() => null);
    const ageMs = kept === null ? Number.POSITIVE_INFINITY : snapshots.now() - kept.takenAtMs;
    if (kept !== null && ageMs < cacheMs) return toLook(source, kept, ageMs);
    const fresh = await ask();
    if (fresh.ok) {
      const takenAtMs = snapshots.now();
      const snapshot = { source, key, takenAtMs, data: fresh.value };
      await snapshots.put(snapshot).catch(() => undefined);
      return toLook(source, snapshot, 0);
    }
    if (kept !== null && ageMs < STAND_IN_MS) return toLook(source, kept, ageMs);
    return { state: 'failed', source, detail: fresh.detail };
  }

  return {
    look<T>(question: Question<T>): Promise<Look<T>> {
      const name = JSON.stringify([question.source, question.key]);
      const same = underway.get(name);
      // What is asked for under one source and key is one question: the answer has its type.
      if (same !== undefined) return same as Promise<Look<T>>;
      const asked = answer(question).finally(() => underway.delete(name));
      underway.set(name, asked);
      return asked;
    },
  };
}

function toLook<T>(source: string, kept: KeptAnswer, ageMs: number): Look<T> {
  return {
    state: 'seen',
    source,
    asOf: new Date(kept.takenAtMs).toISOString(),
    ageSec: Math.max(0, Math.round(ageMs / 1_000)),
    data: kept.data as T, // put there by the same question, whose adapter checked its shape
  };
}
