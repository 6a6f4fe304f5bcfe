import type { ObservationName, Observations } from '../model/observations.ts';
import { STANDING_OBSERVATIONS } from '../model/standing.ts';
import { limitsExceeded, notSeen, type Verdict } from '../model/verdict.ts';
import { countTextBytes, pack, type Serialized, serialize } from '../parse/json/transfer.ts';
import { type Limit, TaskFault, TaskLimitExceeded, type Work } from '../workers/job.ts';
import type { ScanAccount } from '../workers/work-account.ts';
import {
  createWorkerPool,
  type PoolOptions,
  type PoolTask,
  type WorkerPool,
} from '../workers/worker-pool.ts';
import type { DiscoveredCheck } from './catalog/discover-checks.ts';
import type { CheckDefinition } from './define-check.ts';

/** Worker threads that run checks and other work on untrusted documents. */
export type Pool = Omit<WorkerPool, 'run'> & {
  /**
   * Judges `seen`, which holds the `needs` of the check. Returns a verdict even if the check exceeds its limits
   * or throws twice.
   */
  runCheck(
    check: DiscoveredCheck,
    seen: Partial<Observations>,
    scan: ScanAccount,
    signal?: AbortSignal,
  ): Promise<Verdict>;
  /** Runs a task. With `kitOf`, its input holds observations, and the function gets the kit of that scan after them. */
  run(task: PoolTask & { readonly kitOf?: ScanAccount | undefined }): Promise<unknown>;
};

const THREAD_MODULE = new URL('./on-thread.ts', import.meta.url).href;

export function createPool(options: PoolOptions = {}): Pool {
  const pool = createWorkerPool(options);
  const serializeSeen = createObservationSerializer();
  const toInput = ({ key: scanKey }: ScanAccount, seen: Partial<Observations>) => {
    return { scanKey, seen: serializeSeen(seen) };
  };

  return {
    ...pool,
    start: (modules = []) => pool.start(modules.length > 0 ? [THREAD_MODULE, ...modules] : []),
    async runCheck({ impl, url, definition }, seen, scan, signal) {
      const isStanding = isStandingCheck(definition);
      const work = () => toWork(url, 'checkOnThread', toInput(scan, seen));
      const account = isStanding ? scan.standing : scan.origin;
      try {
        const output = await pool.runTask({ name: impl, work, account, signal });
        return output as Verdict; // the return value of `checkOnThread`
      } catch (error) {
        if (error instanceof TaskFault) return toFaultVerdict(isStanding, serializeSeen(seen));
        if (!(error instanceof TaskLimitExceeded)) throw error;
        return toTaskLimitsVerdict(error.limit, isStanding, serializeSeen(seen));
      }
    },
    run({ kitOf: scan, ...task }) {
      if (scan === undefined) return pool.run(task);
      const { module, exportName, account = scan.origin, signal } = task;
      const seen = task.input as Partial<Observations>; // as `kitOf` says
      const work = () => toWork(module, 'callWithKit', { exportName, ...toInput(scan, seen) });
      return pool.runTask({ name: exportName, work, account, signal });
    },
  };
}

/** The thread gets raw input, because it deserializes and caches the observations itself. */
function toWork(module: string, exportName: string, input: Serialized): Work {
  return { modules: [THREAD_MODULE, module], exportName, input, isRaw: true };
}

/** `part` identifies the observation across tasks, so that a worker can cache it. */
export type SerializedObservation = {
  readonly name: string;
  readonly part: number;
  readonly value: Serialized;
};

/** Id of an observation that was not made. */
const ABSENT_PART = 0;

/** The function serializes each observation once, for all checks. The cached form is dropped with its observation. */
function createObservationSerializer() {
  /** Keyed by identity, because observations are frozen. */
  const cache = new WeakMap<object, Pick<SerializedObservation, 'part' | 'value'>>();
  let lastPart = 0;

  return (seen: Partial<Observations>): readonly SerializedObservation[] =>
    Object.entries(seen).flatMap(([name, observation]) => {
      if (observation === undefined) return [];
      if (observation === null) return [{ name, part: ABSENT_PART, value: null }];
      const cached = cache.get(observation);
      if (cached !== undefined) return [{ name, ...cached }];
      lastPart += 1;
      const entry = { part: lastPart, value: pack(serialize(observation)) };
      cache.set(observation, entry);
      return [{ name, ...entry }];
    });
}

/** Selects observations by name. Observations that were not made are left out. */
export function selectObservations(
  seen: Partial<Observations>,
  names: readonly ObservationName[],
): Partial<Observations> {
  const madeNames = names.filter((name) => seen[name] !== undefined);
  return Object.fromEntries(madeNames.map((name) => [name, seen[name]]));
}

const LIMIT_NAMES: Readonly<Record<Limit, string>> = {
  time: 'CPU time',
  memory: 'memory',
  stack: 'stack depth',
};
const FAULT_FIX = 'Report this scan to us, and scan again once we have corrected it.';
const STANDING_FIX = 'Nothing to do here: scan again later.';

/** Returns true for checks that judge third parties' answers. */
export function isStandingCheck({ needs }: Pick<CheckDefinition, 'needs'>): boolean {
  return STANDING_OBSERVATIONS.some((name) => needs.includes(name));
}

/**
 * Verdict of a check that exceeded its limits. The verdict fails the origin, as `toFaultVerdict` does, because a
 * seller could otherwise avoid a grade by hanging or breaking a check. A check of third parties' data is
 * not determined, because the origin did not write that data.
 */
function toTaskLimitsVerdict(
  limit: Limit | 'budget',
  isStanding: boolean,
  seen: readonly SerializedObservation[],
): Verdict<'limits'> {
  if (limit === 'budget') return toBudgetVerdict(isStanding);
  const cause = `twice too much ${LIMIT_NAMES[limit]} for ${listLargestFirst(seen)}`;
  return toLimitsVerdict(cause, isStanding);
}

/** Verdict of every check of a scan whose processor time is spent, even if another check spent the time. */
export function toBudgetVerdict(isStanding: boolean): Verdict<'limits'> {
  const cause = isStanding
    ? 'the answers of third parties took all the processor time that they have'
    : 'the documents of this origin took all the processor time that a scan has';
  return toLimitsVerdict(cause, isStanding);
}

function toLimitsVerdict(cause: string, isStanding: boolean): Verdict<'limits'> {
  const evidence = `Could not be evaluated within limits: ${cause}`;
  return isStanding ? notSeen('limits', evidence, STANDING_FIX) : limitsExceeded(evidence);
}

function toFaultVerdict(
  isStanding: boolean,
  seen: readonly SerializedObservation[],
): Verdict<'fault'> {
  const evidence = `Not evaluated, and the fault is ours: this check broke on ${listLargestFirst(seen)}`;
  if (isStanding) return notSeen('fault', evidence, STANDING_FIX);
  return { status: 'fail', basis: 'not_evaluated', outcome: 'fault', evidence, fix: FAULT_FIX };
}

function listLargestFirst(seen: readonly SerializedObservation[]): string {
  return seen
    .map(({ name, value }) => ({ name, bytes: countTextBytes(value) }))
    .sort((one, other) => other.bytes - one.bytes)
    .map(({ name, bytes }) => `${name} (${bytes} bytes)`)
    .join(', ');
}
