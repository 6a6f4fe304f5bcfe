/** How checks are judged on the threads: together for a start, and alone where one of them fails. */
import type { Observations } from '../../model/observations.ts';
import type { Verdict } from '../../model/verdict.ts';
import type { DiscoveredCheck } from '../catalog/discover-checks.ts';
import { TaskFault, TaskLimitExceeded } from '../errors.ts';
import { readVerdict } from '../read-verdict.ts';
import { faultVerdict, isStandingCheck, limitsVerdict } from '../unjudged-verdicts.ts';
import type { Job } from './job.ts';
import { createObservationSerializer } from './observation-serializer.ts';
import type { TaskRunner } from './task-runner.ts';
import type { ScanAccount } from './work-account.ts';

export type Judges = {
  /**
   * `seen` holds what the check needs and nothing else. A check out of limits, or one that throws
   * twice, is a verdict, not an error.
   */
  judge(
    check: DiscoveredCheck,
    seen: Partial<Observations>,
    scan: ScanAccount,
    signal?: AbortSignal,
  ): Promise<Verdict>;
  /**
   * The verdicts, by impl, of those of the checks that came before the first failure, all within the
   * time of a single first try. The checks are paid for by one budget; `seen` holds what they need.
   */
  judgeTogether(
    checks: readonly DiscoveredCheck[],
    seen: Partial<Observations>,
    scan: ScanAccount,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, Verdict>>;
};

/** What is kept of observations in the form in which they cross to workers. */
const MAX_SERIALIZED_BYTES = 32 * 1024 * 1024;

/** `onError` is told of checks that threw twice. */
export function createJudges(tasks: TaskRunner, onError: (error: Error) => void): Judges {
  const serialized = createObservationSerializer(MAX_SERIALIZED_BYTES);

  return {
    async judge(check, seen, scan, signal) {
      const { impl, url, definition } = check;
      const isStanding = isStandingCheck(definition);
      const address = (ticket: number): Job => {
        const { key: scanKey } = scan;
        return { kind: 'judge', ticket, module: url, scanKey, seen: serialized(scanKey, seen) };
      };
      try {
        const task = { name: impl, address, account: accountOf(check, scan) };
        return readVerdict(await tasks.run(task, signal), definition.outcomes);
      } catch (error) {
        if (error instanceof TaskFault) {
          onError(error);
          return faultVerdict(isStanding, serialized(scan.key, seen));
        }
        if (!(error instanceof TaskLimitExceeded)) throw error;
        return limitsVerdict(error.limit, isStanding, serialized(scan.key, seen));
      }
    },
    async judgeTogether(checks, seen, scan, signal) {
      const [first] = checks;
      if (first === undefined) return new Map();
      const wanted = checks.map(({ url, definition }) => ({
        module: url,
        needs: definition.needs,
      }));
      const address = (ticket: number): Job => {
        const { key: scanKey } = scan;
        const parts = serialized(scanKey, seen);
        return { kind: 'judge-together', ticket, scanKey, seen: parts, checks: wanted };
      };
      const task = { name: 'checks', address, account: accountOf(first, scan) };
      const answer = await tasks.tryOnce(task, signal);
      const outputs: unknown = answer.kind === 'done' ? answer.output : [];
      const verdicts = new Map<string, Verdict>();
      for (const [at, output] of (Array.isArray(outputs) ? outputs : []).entries()) {
        const check = checks[at];
        if (check) verdicts.set(check.impl, readVerdict(output, check.definition.outcomes));
      }
      return verdicts;
    },
  };
}

function accountOf({ definition }: DiscoveredCheck, scan: ScanAccount) {
  return isStandingCheck(definition) ? scan.standing : scan.origin;
}
