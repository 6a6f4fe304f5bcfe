/**
 * Tasks on killable threads: one retry on a fresh thread, and two failures of a kind decide. A
 * task that twice exceeds its limits was given too much; one that twice fails otherwise is broken.
 */
import { availableParallelism } from 'node:os';
import type { Observations } from '../../model/observations.ts';
import type { Verdict } from '../../model/verdict.ts';
import type { DiscoveredCheck } from '../catalog/discover-checks.ts';
import { EngineFault, type Limit, TaskLimitExceeded } from '../errors.ts';
import { limitsVerdict } from '../limits-verdict.ts';
import { readVerdict } from '../read-verdict.ts';
import type { Answer, Job } from './job.ts';
import { createPacker } from './packer.ts';
import { createSlots } from './slots.ts';
import { openThread, type ThreadOptions } from './thread.ts';
import { pack } from './transfer.ts';

export type PoolOptions = {
  /** Default: one a core, from 2 to 8. */
  readonly threads?: number;
  /** CPU time of one task, default 1,000. */
  readonly cpuMs?: number;
  /** Time on the wall of one task, default 10,000. */
  readonly wallMs?: number;
  /** Old-space heap of a thread, default 64. */
  readonly heapMb?: number;
  /** Tasks that may wait, default 2,500: a hundred scans. */
  readonly maxWaiting?: number;
  /** Told of errors that belong to no task; default: dropped. */
  readonly onStray?: (error: Error) => void;
};

export type PoolTask = {
  /** File URL of the module whose export does the work. */
  readonly module: string;
  /** A synchronous function of one argument, pure: it may be run again. */
  readonly exportName: string;
  /** Plain data; arrives frozen. */
  readonly input: unknown;
  readonly signal?: AbortSignal;
};

export type Pool = {
  /**
   * The function's answer, for the caller to parse. Rejects with TaskLimitExceeded, EngineFault, or
   * the signal's reason.
   */
  run(task: PoolTask): Promise<unknown>;
  /**
   * `seen` holds what the check needs and nothing else. `scanKey` is one scan's own: the kit of a
   * worker is kept for as long as it stays. A check out of limits is a verdict, not an error.
   */
  judge(
    check: DiscoveredCheck,
    seen: Partial<Observations>,
    scanKey: string,
    signal?: AbortSignal,
  ): Promise<Verdict>;
  load(): { readonly threads: number; readonly running: number; readonly waiting: number };
  /** Kills what runs and refuses what waits. */
  close(): Promise<void>;
};

export function createPool(options: PoolOptions = {}): Pool {
  const size = options.threads ?? Math.min(Math.max(availableParallelism(), 2), 8);
  const threads = Array.from({ length: size }, () => openThread(threadOptions(options)));
  const slots = createSlots(threads, options.maxWaiting ?? 2_500);
  const closing = new AbortController();
  // One scan a thread is under way, and one may begin while another ends.
  const packed = createPacker(size + 1);
  let tickets = 0;

  async function perform(
    name: string,
    address: (ticket: number) => Job,
    callerSignal: AbortSignal | undefined,
  ): Promise<unknown> {
    const signal = AbortSignal.any([closing.signal, ...(callerSignal ? [callerSignal] : [])]);
    const { slot, release } = await slots.acquire(signal);
    try {
      return await twoOfAKind(name, () => slot.attempt(address(++tickets), signal));
    } finally {
      release();
    }
  }

  return {
    run: ({ module, exportName, input, signal }) =>
      perform(
        exportName,
        (ticket) => ({ kind: 'run', ticket, module, exportName, input: pack(input) }),
        signal,
      ),
    async judge(check, seen, scanKey, signal) {
      const { impl, url, definition } = check;
      const address = (ticket: number): Job => {
        return { kind: 'judge', ticket, module: url, scanKey, seen: packed(scanKey, seen) };
      };
      try {
        return readVerdict(await perform(impl, address, signal), definition.outcomes);
      } catch (error) {
        if (!(error instanceof TaskLimitExceeded)) throw error;
        return limitsVerdict(error.limit, packed(scanKey, seen));
      }
    },
    load: () => ({ threads: size, ...slots.counts() }),
    async close() {
      closing.abort(new EngineFault('The engine was closed; start the scan again elsewhere.'));
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

/** At most three attempts; answers that differ in kind leave the decision to the third. */
async function twoOfAKind(name: string, attempt: () => Promise<Answer>): Promise<unknown> {
  let limit: Limit | undefined;
  let fault: string | undefined;
  for (;;) {
    const answer = await attempt();
    if (answer.kind === 'done') return answer.output;
    if (answer.kind === 'limit') {
      if (limit) throw new TaskLimitExceeded(name, limit);
      limit = answer.limit;
    } else {
      if (fault !== undefined) throw new EngineFault(`${name} failed twice: ${answer.detail}`);
      fault = answer.detail;
    }
  }
}

function threadOptions(options: PoolOptions): ThreadOptions {
  return {
    cpuMs: options.cpuMs ?? 1_000,
    wallMs: options.wallMs ?? 10_000,
    heapMb: options.heapMb ?? 64,
    startMs: 60_000,
    onStray: options.onStray ?? (() => {}),
  };
}
