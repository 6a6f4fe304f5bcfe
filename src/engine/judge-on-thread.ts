import type { Verdict } from '../model/verdict.ts';
import type { CheckDefinition } from './define-check.ts';
import type { SerializedObservation } from './observation-serializer.ts';
import { readVerdict } from './read-verdict.ts';
import { ScanMemo } from './scan-memo.ts';

export type JudgeInput = {
  readonly scanKey: string;
  readonly seen: readonly SerializedObservation[];
};

type Evaluable = {
  readonly outcomes: CheckDefinition['outcomes'];
  evaluate(seen: unknown, kit: unknown): unknown;
};

/** Cached across tasks: the thread is reused unless a task fails. */
const memo = new ScanMemo();

/** Runs on a worker thread, which has loaded the module of the check. */
export function judgeOnThread(
  { scanKey, seen }: JudgeInput,
  module: Readonly<Record<string, unknown>>,
): Verdict {
  const check = module['default'];
  if (!isDefinition(check)) throw new TypeError('The module exports no check as its default.');
  const recalled = memo.recall(scanKey, seen);
  return readVerdict(check.evaluate(recalled.seen, recalled.kit), check.outcomes);
}

/** Checks `evaluate` alone; discovery has validated the rest of the definition on the main thread. */
function isDefinition(value: unknown): value is Evaluable {
  return typeof value === 'object' && value !== null && 'evaluate' in value && 'outcomes' in value;
}
