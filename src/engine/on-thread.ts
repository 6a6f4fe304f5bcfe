import { LRUCache } from 'lru-cache';
import { type Basis, ENGINE_OUTCOMES, type Status, type Verdict } from '../model/verdict.ts';
import { countTextBytes, deserializeFrozen } from '../parse/json/transfer.ts';
import { createKit, type Kit } from '../parse/kit/kit.ts';
import { cleanText } from '../parse/text/text.ts';
import type { CheckDefinition } from './define-check.ts';
import type { SerializedObservation } from './judging-pool.ts';

/** The part of a scan that one task sees. */
export type Sight = {
  readonly scanKey: string;
  readonly seen: readonly SerializedObservation[];
};

type Evaluable = {
  readonly outcomes: CheckDefinition['outcomes'];
  evaluate(seen: unknown, kit: unknown): unknown;
};

/** Bytes of text that are cached; values parsed from it take several times as much. */
const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_KEPT_SCANS = 8;

type CachedScan = {
  readonly kit: Kit;
  /** Deserialized observations by their part. */
  readonly values: Map<number, unknown>;
  readonly bytes: number;
};

/**
 * A worker's cache between the checks and readers of a scan: the kit with its parsed documents, and the observations,
 * frozen and each deserialized once. Workers alternate between scans, so several small scans are cached; a
 * large one is the only one in the cache, which bounds memory to one scan.
 */
class ScanMemo {
  readonly #recent = new LRUCache<string, CachedScan>({
    max: MAX_KEPT_SCANS,
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ bytes }) => Math.min(1 + bytes, MAX_KEPT_BYTES),
  });

  recall(scanKey: string, serialized: readonly SerializedObservation[]) {
    const before = this.#recent.get(scanKey);
    const kit = before?.kit ?? createKit();
    const values = before?.values ?? new Map<number, unknown>();
    const added = serialized.filter(({ part }) => !values.has(part));
    const bytes = added.reduce((sum, { value }) => sum + countTextBytes(value), before?.bytes ?? 0);
    // Older texts are dropped before this one is parsed, so that memory never holds both.
    this.#recent.set(scanKey, { kit, values, bytes });
    for (const { part, value } of added) values.set(part, deserializeFrozen(value));
    const seen = serialized.map(({ name, part }) => [name, values.get(part)] as const);
    return { kit, seen: Object.freeze(Object.fromEntries(seen)) };
  }
}

/** Cached across tasks: the thread is reused unless a task fails. */
const memo = new ScanMemo();

/** Runs on a worker thread, which has loaded the module of the check. */
export function checkOnThread(
  { scanKey, seen }: Sight,
  module: Readonly<Record<string, unknown>>,
): Verdict {
  const check = module['default'];
  if (!isDefinition(check)) throw new TypeError('The module exports no check as its default.');
  const recalled = memo.recall(scanKey, seen);
  return readVerdict(check.evaluate(recalled.seen, recalled.kit), check.outcomes);
}

/** Runs on a worker thread, which has loaded the module of the reader. */
export function readOnThread(
  { scanKey, seen, exportName }: Sight & { readonly exportName: string },
  module: Readonly<Record<string, unknown>>,
): unknown {
  const read = module[exportName];
  if (typeof read !== 'function') throw new TypeError(`The module exports no ${exportName}.`);
  const recalled = memo.recall(scanKey, seen);
  return read(recalled.seen, recalled.kit);
}

/** Checks only `evaluate`; discovery has validated the rest of the definition on the main thread. */
function isDefinition(value: unknown): value is Evaluable {
  return typeof value === 'object' && value !== null && 'evaluate' in value && 'outcomes' in value;
}

/** Limit of security.md, "Hostile origins". */
export const MAX_EVIDENCE_CHARS = 500;

/** Statuses allowed for each basis (checks.md, "Common rules"). */
const STATUSES: Readonly<Record<Basis, readonly Status[]>> = {
  measured: ['pass', 'warn', 'fail'],
  not_applicable: ['pass'],
  not_determined: ['warn'],
  not_evaluated: ['fail'],
};

/** Throws TypeError with the breach, a defect of the check; returns cleaned and cut evidence. */
export function readVerdict(raw: unknown, outcomes: readonly string[]): Verdict {
  if (typeof raw !== 'object' || raw === null) throw new TypeError('The verdict is not an object.');
  if ('then' in raw) throw new TypeError('The verdict is a promise: evaluate must be synchronous.');
  const { status, basis, outcome, evidence, fix }: Partial<Record<keyof Verdict, unknown>> = raw;

  if (!isBasis(basis)) throw new TypeError(`Unknown basis ${JSON.stringify(basis)}.`);
  const allowed = STATUSES[basis].find((one) => one === status);
  if (!allowed) throw new TypeError(`Status ${JSON.stringify(status)} with basis ${basis}.`);
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
  return { status: allowed, basis, outcome, evidence: text, fix };
}

function isBasis(value: unknown): value is Basis {
  return typeof value === 'string' && Object.hasOwn(STATUSES, value);
}

function isListed(outcome: string, outcomes: readonly string[]): boolean {
  return outcomes.includes(outcome) || ENGINE_OUTCOMES.some((one) => one === outcome);
}
