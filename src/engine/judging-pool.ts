import type { Observations } from '../model/observations.ts';
import type { Verdict } from '../model/verdict.ts';
import { TaskFault, TaskLimitExceeded } from '../workers/errors.ts';
import type { Work } from '../workers/job.ts';
import type { ScanAccount } from '../workers/work-account.ts';
import { createWorkerPool, type PoolOptions, type WorkerPool } from '../workers/worker-pool.ts';
import type { DiscoveredCheck } from './catalog/discover-checks.ts';
import { createObservationSerializer } from './observation-serializer.ts';
import { readVerdict } from './read-verdict.ts';
import { faultVerdict, isStandingCheck, limitsVerdict } from './unjudged-verdicts.ts';

/** Worker threads that run checks, plans and other work on untrusted documents. */
export type Pool = WorkerPool & {
  /**
   * Judges with one check; `seen` holds only its `needs`. A check that exceeds its limits, or throws
   * twice, gets a verdict and does not reject.
   */
  judge(
    check: DiscoveredCheck,
    seen: Partial<Observations>,
    scan: ScanAccount,
    signal?: AbortSignal,
  ): Promise<Verdict>;
};

const JUDGE_MODULE = new URL('./judge-on-thread.ts', import.meta.url).href;

export function createPool(options: PoolOptions = {}): Pool {
  const pool = createWorkerPool(options);
  const serialized = createObservationSerializer();

  return {
    ...pool,
    start: (modules = []) => pool.start(modules.length > 0 ? [JUDGE_MODULE, ...modules] : []),
    async judge({ impl, url, definition }, seen, scan, signal) {
      const isStanding = isStandingCheck(definition);
      const work = (): Work => ({
        modules: [JUDGE_MODULE, url],
        exportName: 'judgeOnThread',
        input: { scanKey: scan.key, seen: serialized(seen) },
        isRaw: true,
      });
      const account = isStanding ? scan.standing : scan.origin;
      try {
        const output = await pool.runTask({ name: impl, work, account, signal });
        return readVerdict(output, definition.outcomes);
      } catch (error) {
        if (error instanceof TaskFault) return faultVerdict(isStanding, serialized(seen));
        if (!(error instanceof TaskLimitExceeded)) throw error;
        return limitsVerdict(error.limit, isStanding, serialized(seen));
      }
    },
  };
}
