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

const DEFAULTS = {
  /** Processor time of one challenge. */
  cpuMs: 1_000,
  /** Time on the wall of one challenge. */
  wallMs: 10_000,
  /** Processor time of one scan; the remaining challenges are `unknown`. */
  scanMs: 3_000,
  /** This machine's slowness relative to the one that the limits were measured on. */
  scale: () => 1,
  /** Old-space heap in MiB; the packages take a third of it. */
  heapMb: 192,
  /** Time until the idle thread ends. */
  idleMs: 60_000,
  /** Queue length in challenges; each scan queues one at a time. */
  maxWaiting: 500,
  /** Told of trials that threw twice, which are our defects, and of errors outside any trial. */
  onError: (_message: string): void => {},
};
const START_MS = 60_000;

export type OracleOptions = Readonly<Partial<typeof DEFAULTS>> & {
  /** Extra Node arguments for the thread; tests use them to watch its sockets. */
  readonly execArgv?: readonly string[];
};

/** Runs the official clients on challenges, on one thread that can be killed. */
export type Oracle = ReturnType<typeof createOracle>;

const ENTRY = new URL('./worker.ts', import.meta.url);
const TRIAL_MODULE = new URL('./try-on-thread.ts', import.meta.url).href;
/** Preloaded for challenges that name Solana, so that loading does not count against their time. */
const SOLANA_MODULE = new URL('./solana-schemes.ts', import.meta.url).href;

const MAX_REMEMBERED = 500;
const LIMITS = 'could not be read within limits';
const THREW = 'could not be read';
const OVERSPENT = "not tried: the scan's time for it was spent";

export function createOracle(options: OracleOptions = {}) {
  const settings = { ...DEFAULTS, ...options };
  const { scale, scanMs, onError } = settings;
  const threads = openThreads({
    ...settings,
    threads: 1,
    startMs: START_MS,
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
    /** Starts the thread early, while the origin is still being probed. */
    start: () => void threads.start([TRIAL_MODULE]),
    /**
     * Rejects with EngineFault when the fault is ours, such as a package that cannot load, or with the
     * signal's reason.
     */
    async tryChallenges(
      { challenged, silent }: ListedChallenges,
      signal?: AbortSignal,
    ): Promise<Payability> {
      const budgets = { origin: scanMs, standing: 0, lightMs: 0 };
      const { origin: account } = openScanAccount('', budgets, scale);
      const resources: ResourcePayability[] = [];
      for (const one of challenged) {
        const { method, path } = one;
        resources.push({ method, path, ...(await tryOnce(one, account, signal)) });
      }
      return { clients: CLIENTS, resources, silent };
    },
    async close(): Promise<void> {
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
