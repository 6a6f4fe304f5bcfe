import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Payability, ResourcePayability } from '../model/payability.ts';
import { serialize } from '../parse/json/transfer.ts';
import { TaskFault, TaskLimitExceeded, type Work } from '../workers/job.ts';
import { openThreads } from '../workers/threads.ts';
import { openScanAccount, type WorkAccount } from '../workers/work-account.ts';
import { createTaskRunner } from '../workers/worker-pool.ts';
import { CLIENTS } from './clients.ts';
import type { ListedChallenge, ListedChallenges } from './list-challenges.ts';
import type { Trial } from './try-challenge.ts';

export type OracleOptions = {
  /** Processor milliseconds per challenge, default 1,000. */
  readonly cpuMs?: number;
  /** Wall-clock milliseconds per challenge, default 10,000. */
  readonly wallMs?: number;
  /** Processor milliseconds per scan, default 3,000; the remaining challenges are `unknown`. */
  readonly scanMs?: number;
  /** This machine's slowness relative to the one that the limits were measured on; default 1. */
  readonly scale?: () => number;
  /** Old-space heap in MiB, default 192; the packages take a third of it. */
  readonly heapMb?: number;
  /** Milliseconds until the idle thread ends, default 60,000. */
  readonly idleMs?: number;
  /** Queue length in challenges, default 500; each scan queues one at a time. */
  readonly maxWaiting?: number;
  /** Extra Node arguments for the thread; tests use them to watch its sockets. */
  readonly execArgv?: readonly string[];
  /** Told of trials that threw twice, which are our defects, and of errors outside any trial. */
  readonly onError?: (message: string) => void;
};

/** Runs the official clients on challenges, on one thread that can be killed. */
export type Oracle = {
  /** Starts the thread early, while the origin is still being probed. */
  start(): void;
  /**
   * Rejects with EngineFault when the fault is ours, such as a package that cannot load, or with the
   * signal's reason.
   */
  tryChallenges(listed: ListedChallenges, signal?: AbortSignal): Promise<Payability>;
  close(): Promise<void>;
};

const DEFAULTS = {
  cpuMs: 1_000,
  wallMs: 10_000,
  scanMs: 3_000,
  scale: () => 1,
  heapMb: 192,
  idleMs: 60_000,
  startMs: 60_000,
  maxWaiting: 500,
  onError: () => {},
} as const satisfies OracleOptions & { startMs: number };

const ENTRY = new URL('./worker.ts', import.meta.url);
const TRIAL_MODULE = new URL('./try-on-thread.ts', import.meta.url).href;
/** Preloaded for challenges that name Solana, so that loading does not count against their time. */
const SOLANA_MODULE = new URL('./solana-schemes.ts', import.meta.url).href;

const MAX_REMEMBERED = 500;
const LIMITS = 'could not be read within limits';
const THREW = 'could not be read';
const OVERSPENT = "not tried: the scan's time for it was spent";

export function createOracle(options: OracleOptions = {}): Oracle {
  const settings = { ...DEFAULTS, ...options };
  const { scale, scanMs, onError } = settings;
  const threads = openThreads({
    ...settings,
    threads: 1,
    entry: ENTRY,
    onError: (error) => onError(`The thread of the official clients: ${error.message}`),
  });
  const cpuMs = () => settings.cpuMs * scale();
  const tasks = createTaskRunner(
    { quick: threads, slow: threads },
    { firstTryMs: cpuMs, cpuMs, afterCut: async () => undefined },
  );
  /** Finished trials, because equal challenges get equal answers. */
  const remembered = new LRUCache<string, Trial>({ max: MAX_REMEMBERED });

  async function tryOnThread(
    one: ListedChallenge,
    account: WorkAccount,
    signal: AbortSignal | undefined,
  ): Promise<Trial | null> {
    try {
      const output = await tasks.run({ name: 'trial', work: () => toWork(one), account, signal });
      return output as Trial; // what tryOnThread returned, cloned: plain data
    } catch (error) {
      if (error instanceof TaskLimitExceeded) {
        return error.limit === 'budget' ? null : refused(one, LIMITS);
      }
      if (!(error instanceof TaskFault)) throw error;
      onError(`A trial of a challenge threw twice: ${error.message}`);
      return refused(one, THREW);
    }
  }

  async function tryOnce(
    one: ListedChallenge,
    account: WorkAccount,
    signal: AbortSignal | undefined,
  ): Promise<Trial> {
    const key = toKey(one);
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const trial = await tryOnThread(one, account, signal);
    if (trial === null) return untried(one);
    remembered.set(key, trial);
    return trial;
  }

  return {
    start: () => void threads.start([TRIAL_MODULE]),
    async tryChallenges({ challenged, silent }, signal) {
      const budgets = { origin: scanMs, standing: 0, lightMs: 0 };
      const { origin: account } = openScanAccount('', budgets, scale);
      const resources: ResourcePayability[] = [];
      for (const one of challenged) {
        const { method, path } = one;
        resources.push({ method, path, ...(await tryOnce(one, account, signal)) });
      }
      return { clients: CLIENTS, resources, silent };
    },
    async close() {
      tasks.close();
      await threads.close();
    },
  };
}

function toWork({ answer, solana }: ListedChallenge): Work {
  return {
    modules: solana ? [TRIAL_MODULE, SOLANA_MODULE] : [TRIAL_MODULE],
    exportName: 'tryOnThread',
    input: serialize(answer),
    mayWait: true,
  };
}

function refused({ offers }: ListedChallenge, words: string): Trial {
  const refusal = { client: null, verdict: 'refuses', words } as const;
  return { payableBy: 'nobody', words, offers: offers.map((one) => ({ ...one, ...refusal })) };
}

function untried({ offers }: ListedChallenge): Trial {
  const unknown = { client: null, verdict: 'unsupported', words: OVERSPENT } as const;
  const untold = offers.map((one) => ({ ...one, ...unknown }));
  return { payableBy: 'unknown', words: OVERSPENT, offers: untold };
}

function toKey({ answer, solana }: ListedChallenge): string {
  const text = JSON.stringify([answer, solana]);
  return createHash('sha256').update(text).digest('base64');
}
