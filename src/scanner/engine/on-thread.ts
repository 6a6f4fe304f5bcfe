import { LRUCache } from 'lru-cache';
import type { Verdict } from '../model/verdict.ts';
import { countTextBytes, deserializeFrozen } from '../parse/json/transfer.ts';
import { createKit, type Kit } from '../parse/kit/kit.ts';
import { cleanText } from '../parse/text/text.ts';
import type { SerializedObservation } from './judging-pool.ts';

export type ObservedTask = {
  readonly scanKey: string;
  readonly seen: readonly SerializedObservation[];
};

/** Bytes of cached text. Values parsed from the text take several times as many bytes. */
const MAX_CACHED_BYTES = 1024 * 1024;
const MAX_CACHED_SCANS = 8;

type CachedScan = {
  readonly kit: Kit;
  /** Deserialized observations by their part. */
  readonly values: Map<number, unknown>;
  readonly bytes: number;
};

/**
 * A worker's cache for the checks and other work of a scan: the kit with its parsed documents, and the frozen
 * observations. It lives across tasks, because a thread is reused until a task fails. Workers alternate between scans,
 * so several small scans are cached. While a large scan is cached, no other one is, which bounds the memory.
 */
const cachedScans = new LRUCache<string, CachedScan>({
  max: MAX_CACHED_SCANS,
  maxSize: MAX_CACHED_BYTES,
  sizeCalculation: ({ bytes }) => Math.min(1 + bytes, MAX_CACHED_BYTES),
});

function loadScan({ scanKey, seen }: ObservedTask) {
  const cached = cachedScans.get(scanKey);
  const kit = cached?.kit ?? createKit();
  const values = cached?.values ?? new Map<number, unknown>();
  const added = seen.filter(({ part }) => !values.has(part));
  const bytes = added.reduce((sum, { value }) => sum + countTextBytes(value), cached?.bytes ?? 0);
  // This drops older texts before the new texts are parsed, so that memory never holds both.
  cachedScans.set(scanKey, { kit, values, bytes });
  for (const { part, value } of added) values.set(part, deserializeFrozen(value));
  const observations = seen.map(({ name, part }) => [name, values.get(part)] as const);
  return { kit, seen: Object.freeze(Object.fromEntries(observations)) };
}

/** Runs on a worker thread, which has loaded the module of the check. */
export function checkOnThread(
  task: ObservedTask,
  { default: check }: { readonly default: { evaluate(seen: unknown, kit: Kit): Verdict } },
): Verdict {
  const { seen, kit } = loadScan(task);
  return cleanVerdict(check.evaluate(seen, kit));
}

/** Runs on a worker thread, which has loaded the module of the function. */
export function callWithKit(
  { exportName, ...task }: ObservedTask & { readonly exportName: string },
  module: Readonly<Record<string, unknown>>,
): unknown {
  const run = module[exportName];
  if (typeof run !== 'function') throw new TypeError(`The module exports no ${exportName}.`);
  const { seen, kit } = loadScan(task);
  return run(seen, kit);
}

/** Limit of security.md, "Hostile origins". */
export const MAX_EVIDENCE_CHARS = 500;
const MAX_FIX_CHARS = 500;

/** Returns the verdict with evidence and fix as one line of visible characters each, within their limits. */
export function cleanVerdict({ status, basis, outcome, evidence, fix }: Verdict): Verdict {
  return {
    status,
    basis,
    outcome,
    evidence: cleanText(evidence, MAX_EVIDENCE_CHARS),
    fix: cleanText(fix, MAX_FIX_CHARS),
  };
}
