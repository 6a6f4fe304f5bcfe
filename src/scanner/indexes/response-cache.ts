/**
 * Caches good answers of third parties. A fresh answer is used without a request, and a stale one while its source is
 * down. Failures are never cached.
 */
import { hash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readMembers, tryParseJson } from '../model/json.ts';
import type { Lookup } from '../model/observations.ts';
import { type SourceAnswer, toFailure } from './ask.ts';

export type CachedAnswer<T = unknown> = { readonly takenAtMs: number; readonly data: T };

/** Storage that outlives the process: the service's store, or files of the command line. */
export type SnapshotCache = {
  get(source: string, key: string): Promise<CachedAnswer | null>;
  put(snapshot: CachedAnswer & { readonly source: string; readonly key: string }): Promise<void>;
  /** Milliseconds of the clock that stamps the answers. */
  now(): number;
};

export type Question<T> = {
  readonly source: string;
  readonly key: string;
  /** A cached answer that is younger is used without a request; default an hour. */
  readonly cacheMs?: number;
  /** Validates a cached answer, which another release may have written. */
  isAnswer(data: unknown): data is T;
  ask(): Promise<SourceAnswer<T>>;
};

const CACHE_MS = 3_600_000;
/** Maximum age of a cached answer that is used while its source is down. */
const MAX_STALE_MS = 30 * 24 * 3_600_000;

export type ResponseCache = ReturnType<typeof createResponseCache>;

export function createResponseCache(snapshots: SnapshotCache) {
  const pendingLookups = new Map<string, Promise<Lookup<unknown>>>();
  /** Pauses of the sources that asked for a pause or did not answer. */
  const pauses = new Map<string, { readonly untilMs: number; readonly detail: string }>();

  async function findAnswer<T>(question: Question<T>): Promise<Lookup<T>> {
    const { source, key, cacheMs = CACHE_MS } = question;
    const cached = await readCached(snapshots, question);
    const ageMs = cached === null ? 0 : snapshots.now() - cached.takenAtMs;
    // A stamp from the future means that the clock was set back, so the answer's age is unknown.
    if (cached !== null && ageMs >= 0 && ageMs < cacheMs) return toLookup(source, cached, ageMs);
    const fresh = await askUnlessPaused(question);
    if (fresh.ok) {
      const answer = { takenAtMs: snapshots.now(), data: fresh.value };
      // Without the snapshot, the next lookup asks again.
      await snapshots.put({ source, key, ...answer }).catch(() => undefined);
      return toLookup(source, answer, 0);
    }
    if (cached !== null && ageMs < MAX_STALE_MS) return toLookup(source, cached, ageMs);
    return { state: 'failed', source, detail: fresh.detail };
  }

  async function askUnlessPaused<T>({ source, ask }: Question<T>): Promise<SourceAnswer<T>> {
    const pause = pauses.get(source);
    if (pause !== undefined && pause.untilMs > snapshots.now()) {
      return toFailure(`${pause.detail}, and is not asked again for the moment`);
    }
    const fresh = await ask();
    if (fresh.ok || fresh.pauseMs === 0) pauses.delete(source);
    else pauses.set(source, { untilMs: snapshots.now() + fresh.pauseMs, detail: fresh.detail });
    return fresh;
  }

  return {
    /** Never rejects. If the cache fails, the source is asked. */
    lookup<T>(question: Question<T>): Promise<Lookup<T>> {
      const id = JSON.stringify([question.source, question.key]);
      const running = pendingLookups.get(id);
      // Source and key identify the question, so the running lookup gives an answer of the type that is asked for.
      if (running !== undefined) return running as Promise<Lookup<T>>;
      const pending = findAnswer(question).finally(() => pendingLookups.delete(id));
      pendingLookups.set(id, pending);
      return pending;
    },
  };
}

async function readCached<T>(
  snapshots: SnapshotCache,
  { source, key, isAnswer }: Question<T>,
): Promise<CachedAnswer<T> | null> {
  const snapshot = await snapshots.get(source, key).catch(() => null);
  if (snapshot === null || !isAnswer(snapshot.data)) return null;
  return { takenAtMs: snapshot.takenAtMs, data: snapshot.data };
}

export function toLookup<T>(
  source: string,
  { takenAtMs, data }: CachedAnswer<T>,
  ageMs: number,
): Lookup<T> {
  const asOf = new Date(takenAtMs).toISOString();
  return { state: 'seen', source, asOf, ageSec: Math.max(0, Math.round(ageMs / 1_000)), data };
}

/** Caches each answer in a file, for the command line, which has no database. */
export function createFileCache(folder: string): SnapshotCache {
  const toFilePath = (source: string, key: string): string =>
    join(folder, `${hash('sha256', JSON.stringify([source, key]))}.json`);
  return {
    now: () => Date.now(),
    get: async (source, key) => {
      const text = await readFile(toFilePath(source, key), 'utf8').catch(() => null);
      return text === null ? null : parseCached(text);
    },
    put: async ({ source, key, takenAtMs, data }) => {
      const file = toFilePath(source, key);
      const partFile = `${file}.${process.pid}.part`;
      await mkdir(folder, { recursive: true });
      // Another command may read the file at any time, so it appears whole.
      await writeFile(partFile, JSON.stringify({ takenAtMs, data }));
      await rename(partFile, file);
    },
  };
}

/** Returns null for a file that is truncated or that we did not write. */
function parseCached(text: string): CachedAnswer | null {
  const { takenAtMs, data } = readMembers(tryParseJson(text));
  return typeof takenAtMs === 'number' ? { takenAtMs, data } : null;
}
