import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type {
  ClientVersion,
  OfferVerdict,
  Payability,
  PayableBy,
  ResourcePayability,
} from '../model/payability.ts';
import { serialize } from '../parse/json/transfer.ts';
import { TaskFault, TaskLimitExceeded, type Work } from '../workers/job.ts';
import { openThreads } from '../workers/threads.ts';
import { openScanAccount, type WorkAccount } from '../workers/work-account.ts';
import { createTaskRunner } from '../workers/worker-pool.ts';
import type { ListedChallenge, ListedChallenges } from './list-challenges.ts';
import type { Trial } from './try-challenge.ts';

/** Packages that the thread runs. A test compares these versions with the installed ones. */
export const CLIENTS: readonly ClientVersion[] = Object.freeze([
  { name: '@x402/core', version: '2.27.0' },
  { name: '@x402/evm', version: '2.27.0' },
  { name: '@x402/svm', version: '2.27.0' },
]);

/** Packages that try offers only in our tests. Another test compares their versions. */
export const TEST_CLIENTS: readonly ClientVersion[] = Object.freeze([
  { name: '@x402/avm', version: '2.26.0' },
  { name: '@x402/stellar', version: '2.9.0' },
]);

const DEFAULTS = {
  /** Limit of processor time for one challenge. */
  cpuMs: 1_000,
  /** Limit of elapsed time for one challenge. */
  wallMs: 10_000,
  /** Limit of processor time for one scan. After it, the remaining challenges are `unknown`. */
  scanMs: 3_000,
  /** Factor for the limits on a machine that is slower than the one on which they were measured. */
  scale: () => 1,
  /** Limit of the old-space heap, MiB. The packages use a third of it. */
  heapMb: 192,
  /** The thread ends after this time without work. */
  idleMs: 60_000,
  /** Limit of queued challenges. A scan queues only one at a time. */
  maxWaiting: 500,
  /** Called for trials that threw twice, which are faults of ours, and for errors outside a trial. */
  onError: (_message: string): void => {},
};
/** A busy machine takes seconds to load the packages. */
const MAX_START_MS = 60_000;

type ClientsOptions = Readonly<Partial<typeof DEFAULTS>> & {
  /** Extra Node arguments for the thread. Tests watch its sockets with them. */
  readonly execArgv?: readonly string[];
};

/** Runs the official clients on challenges, on one thread that can be killed. */
export type Clients = ReturnType<typeof openClients>;

const WORKER_ENTRY = new URL('./offline-worker.ts', import.meta.url);
const TRIAL_MODULE = new URL('./try-on-thread.ts', import.meta.url).href;
/** Loaded before the trial of a challenge that names Solana, so that loading does not count against the trial's limits. */
const SOLANA_MODULE = new URL('./solana-schemes.ts', import.meta.url).href;

const MAX_CACHED_TRIALS = 500;
const LIMITS_WORDS = 'could not be read within limits';
const THREW_WORDS = 'could not be read';
const UNTRIED_WORDS = "not tried: the scan's time for it was spent";

export function openClients(options: ClientsOptions = {}) {
  const settings = { ...DEFAULTS, ...options };
  const { scale, scanMs, onError } = settings;
  const threads = openThreads({
    ...settings,
    threads: 1,
    startMs: MAX_START_MS,
    entry: WORKER_ENTRY,
    onError: (error) => onError(`The thread of the official clients: ${error.message}`),
  });
  const cpuMs = () => settings.cpuMs * scale();
  const tasks = createTaskRunner(
    // A later try gets no longer time than the first, so one thread serves both.
    { quick: threads, slow: threads },
    { firstTryMs: cpuMs, cpuMs, beforeLongTry: async () => undefined },
  );
  /** By a digest of the challenge, because equal challenges get equal trials. */
  const cachedTrials = new LRUCache<string, Trial>({ max: MAX_CACHED_TRIALS });

  /** Resolves to null if the scan has no time left. */
  async function runTrial(
    challenge: ListedChallenge,
    account: WorkAccount,
    signal: AbortSignal | undefined,
  ): Promise<Trial | null> {
    try {
      const work = () => toWork(challenge);
      const output = await tasks.run({ name: 'trial', work, account, signal });
      return output as Trial; // a clone of the return value of tryOnThread
    } catch (error) {
      if (error instanceof TaskLimitExceeded) {
        return error.limit === 'budget'
          ? null
          : toTrial(challenge, 'nobody', 'refuses', LIMITS_WORDS);
      }
      if (!(error instanceof TaskFault)) throw error;
      onError(`A trial of a challenge threw twice: ${error.message}`);
      return toTrial(challenge, 'nobody', 'refuses', THREW_WORDS);
    }
  }

  async function findOrRunTrial(
    challenge: ListedChallenge,
    account: WorkAccount,
    signal: AbortSignal | undefined,
  ): Promise<Trial> {
    const key = toKey(challenge);
    const cachedTrial = cachedTrials.get(key);
    if (cachedTrial !== undefined) return cachedTrial;
    const trial = await runTrial(challenge, account, signal);
    if (trial === null) return toTrial(challenge, 'unknown', 'unsupported', UNTRIED_WORDS);
    cachedTrials.set(key, trial);
    return trial;
  }

  return {
    /** Starts the thread early, while requests to the origin are still running. */
    start: () => void threads.start([TRIAL_MODULE]),
    /** Rejects with EngineFault if the fault is ours (a package cannot load), and with the signal's reason on abort. */
    async tryChallenges(
      { challenged, silent }: ListedChallenges,
      signal?: AbortSignal,
    ): Promise<Payability> {
      const budgets = { origin: scanMs, standing: 0, lightMs: 0 };
      // The clients' thread caches nothing by the key of a scan.
      const { origin: account } = openScanAccount('', budgets, scale);
      const resources: ResourcePayability[] = [];
      for (const challenge of challenged) {
        const { method, path } = challenge;
        resources.push({ method, path, ...(await findOrRunTrial(challenge, account, signal)) });
      }
      return { clients: CLIENTS, resources, silent };
    },
    async close(): Promise<void> {
      tasks.close();
      await threads.close();
    },
  };
}

function toWork({ answer, needsSolana }: ListedChallenge): Work {
  return {
    modules: needsSolana ? [TRIAL_MODULE, SOLANA_MODULE] : [TRIAL_MODULE],
    exportName: 'tryOnThread',
    input: serialize(answer),
    mayReturnPromise: true,
  };
}

/** All offers get the same verdict. */
function toTrial(
  { offers }: ListedChallenge,
  payableBy: PayableBy,
  verdict: OfferVerdict,
  words: string,
): Trial {
  const judgement = { client: null, verdict, words };
  return { payableBy, words, offers: offers.map((offer) => ({ ...offer, ...judgement })) };
}

function toKey({ answer, needsSolana }: ListedChallenge): string {
  const text = JSON.stringify([answer, needsSolana]);
  return createHash('sha256').update(text).digest('base64');
}
