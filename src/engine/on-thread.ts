import { LRUCache } from 'lru-cache';
import { type Basis, ENGINE_OUTCOMES, type Status, type Verdict } from '../model/verdict.ts';
import { countTextBytes, deserializeFrozen } from '../parse/json/transfer.ts';
import { createKit, type Kit } from '../parse/kit/kit.ts';
import { cleanText } from '../parse/text/text.ts';
import type { CheckDefinition } from './define-check.ts';
import type { SerializedObservation } from './judging-pool.ts';

/** The scan and the observations that one task receives. */
export type ObservedTask = {
  readonly scanKey: string;
  readonly seen: readonly SerializedObservation[];
};

type Evaluable = Pick<CheckDefinition, 'outcomes'> & {
  evaluate(seen: unknown, kit: unknown): unknown;
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
 * observations. Workers alternate between scans, so several small scans are cached. A large scan is cached
 * alone, which bounds the memory.
 */
class ScanCache {
  readonly #scans = new LRUCache<string, CachedScan>({
    max: MAX_CACHED_SCANS,
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ bytes }) => Math.min(1 + bytes, MAX_CACHED_BYTES),
  });

  loadScan(scanKey: string, serialized: readonly SerializedObservation[]) {
    const cached = this.#scans.get(scanKey);
    const kit = cached?.kit ?? createKit();
    const values = cached?.values ?? new Map<number, unknown>();
    const added = serialized.filter(({ part }) => !values.has(part));
    const bytes = added.reduce((sum, { value }) => sum + countTextBytes(value), cached?.bytes ?? 0);
    // This drops older texts before the new texts are parsed, so that memory never holds both.
    this.#scans.set(scanKey, { kit, values, bytes });
    for (const { part, value } of added) values.set(part, deserializeFrozen(value));
    const seen = serialized.map(({ name, part }) => [name, values.get(part)] as const);
    return { kit, seen: Object.freeze(Object.fromEntries(seen)) };
  }
}

/** Lives across tasks, because a thread is reused until a task fails. */
const cache = new ScanCache();

/** Runs on a worker thread, which has loaded the module of the check. */
export function checkOnThread(
  { scanKey, seen }: ObservedTask,
  module: Readonly<Record<string, unknown>>,
): Verdict {
  const check = module['default'];
  if (!isDefinition(check)) throw new TypeError('The module exports no check as its default.');
  const scan = cache.loadScan(scanKey, seen);
  return readVerdict(check.evaluate(scan.seen, scan.kit), check.outcomes);
}

/** Runs on a worker thread, which has loaded the module of the function. */
export function callWithKit(
  { scanKey, seen, exportName }: ObservedTask & { readonly exportName: string },
  module: Readonly<Record<string, unknown>>,
): unknown {
  const run = module[exportName];
  if (typeof run !== 'function') throw new TypeError(`The module exports no ${exportName}.`);
  const scan = cache.loadScan(scanKey, seen);
  return run(scan.seen, scan.kit);
}

/** Checks only for the members used here, because the main thread has validated the definition. */
function isDefinition(value: unknown): value is Evaluable {
  return typeof value === 'object' && value !== null && 'evaluate' in value && 'outcomes' in value;
}

/** Limit of security.md, "Hostile origins". */
export const MAX_EVIDENCE_CHARS = 500;

/** Statuses allowed for each basis (checks.md, "Common rules"). */
const ALLOWED_STATUSES: Readonly<Record<Basis, readonly Status[]>> = {
  measured: ['pass', 'warn', 'fail'],
  not_applicable: ['pass'],
  not_determined: ['warn'],
  not_evaluated: ['fail'],
};

/** Returns the verdict with cleaned and cut evidence. Throws TypeError if the verdict is malformed. */
export function readVerdict(raw: unknown, outcomes: readonly string[]): Verdict {
  if (typeof raw !== 'object' || raw === null) throw new TypeError('The verdict is not an object.');
  if ('then' in raw) throw new TypeError('The verdict is a promise: evaluate must be synchronous.');
  const { status, basis, outcome, evidence, fix }: Partial<Record<keyof Verdict, unknown>> = raw;

  if (!isBasis(basis)) throw new TypeError(`Unknown basis ${JSON.stringify(basis)}.`);
  const allowedStatus = ALLOWED_STATUSES[basis].find((allowed) => allowed === status);
  if (!allowedStatus) throw new TypeError(`Status ${JSON.stringify(status)} with basis ${basis}.`);
  if (typeof outcome !== 'string' || !isListed(outcome, outcomes)) {
    throw new TypeError(`Outcome ${JSON.stringify(outcome)} is not in the check's list.`);
  }
  const text = typeof evidence === 'string' ? cleanText(evidence, MAX_EVIDENCE_CHARS) : '';
  if (text === '') throw new TypeError(`Outcome ${outcome} without evidence.`);
  if (basis === 'not_applicable' && !text.startsWith('Not applicable:')) {
    throw new TypeError(`Outcome ${outcome}: evidence must start with "Not applicable:".`);
  }
  if (typeof fix !== 'string' || fix.trim() === '' || /[\r\n]/.test(fix)) {
    throw new TypeError(`Outcome ${outcome}: the fix must be one line.`);
  }
  return { status: allowedStatus, basis, outcome, evidence: text, fix };
}

function isBasis(value: unknown): value is Basis {
  return typeof value === 'string' && Object.hasOwn(ALLOWED_STATUSES, value);
}

function isListed(outcome: string, outcomes: readonly string[]): boolean {
  return outcomes.includes(outcome) || ENGINE_OUTCOMES.some((shared) => shared === outcome);
}
