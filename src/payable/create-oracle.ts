/**
 * The oracle: what the official clients say of the challenges of a scan. One thread serves all
 * scans; equal challenges are tried once, and the scan that has used the least time is next.
 */
import { createHash } from 'node:crypto';
import { EngineFault } from '../engine/errors.ts';
import type { Payability, ResourcePayability } from '../model/payability.ts';
import { CLIENTS } from './clients.ts';
import type { ListedChallenge, ListedChallenges } from './list-challenges.ts';
import {
  openTrialThread,
  type TrialAnswer,
  type TrialLimits,
  type TrialThread,
} from './trial-thread.ts';
import type { Trial } from './try-challenge.ts';

export type OracleOptions = TrialLimits & {
  /** Time on the thread that one scan may take, default 3,000; what is left over is `unknown`. */
  readonly scanMs?: number;
  /** Where challenges are tried, within its own limits; default a thread with these. */
  readonly trials?: TrialThread;
  /** Told of trials that threw twice: defects of ours, which seem refusals to the seller. */
  readonly onError?: (message: string) => void;
};

export type Oracle = {
  /** Boots the thread while an origin is asked. */
  start(): void;
  /** Rejects with EngineFault where the fault is ours, as where a package cannot load. */
  judge(listed: ListedChallenges): Promise<Payability>;
  close(): Promise<void>;
};

type Account = { usedMs: number };
type Waiting = { readonly account: Account; readonly begin: () => void };

const MAX_REMEMBERED = 500;
const LIMITS = 'could not be read within limits';
const THREW = 'could not be read';
const OVERSPENT = "not tried: the scan's time for it was spent";

export function createOracle(options: OracleOptions = {}): Oracle {
  const thread = options.trials ?? openTrialThread(options);
  const remembered = new Map<string, Promise<Trial>>();
  const waiting: Waiting[] = [];
  let isBusy = false;
  let tickets = 0;

  /** The thread is handed on, never given back while a scan waits. */
  async function attempt(one: ListedChallenge, account: Account): Promise<TrialAnswer> {
    if (isBusy) await new Promise<void>((begin) => waiting.push({ account, begin }));
    isBusy = true;
    try {
      const { seen, solana } = one;
      const { answer, ms } = await thread.attempt({ ticket: ++tickets, seen, solana });
      account.usedMs += ms;
      return answer;
    } finally {
      const next = nextInLine(waiting);
      if (next === undefined) isBusy = false;
      else next.begin();
    }
  }

  async function tryOnThread(one: ListedChallenge, account: Account): Promise<Trial> {
    const first = await attempt(one, account);
    if (first.kind === 'done') return first.trial;
    const second = await attempt(one, account);
    if (second.kind === 'done') return second.trial;
    if (first.kind === 'limit' || second.kind === 'limit') return refused(one, LIMITS);
    if (!second.isTrial) throw new EngineFault(`The official clients failed: ${second.detail}`);
    options.onError?.(`A trial of a challenge threw twice: ${second.detail}`);
    return refused(one, THREW);
  }

  function remember(key: string, trial: Promise<Trial>): void {
    remembered.set(key, trial);
    // A failure of ours says nothing of the challenge.
    trial.catch(() => remembered.delete(key));
    const [oldest] = remembered.keys();
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  }

  async function tryOnce(one: ListedChallenge, account: Account): Promise<Trial> {
    const key = keyOf(one);
    const known = remembered.get(key);
    if (known !== undefined) return known;
    if (account.usedMs > (options.scanMs ?? 3_000)) return untried(one);
    const trial = tryOnThread(one, account);
    remember(key, trial);
    return trial;
  }

  return {
    start: () => thread.start(),
    async judge({ challenged, silent }) {
      const account: Account = { usedMs: 0 };
      const resources: ResourcePayability[] = [];
      for (const one of challenged) {
        const { method, path } = one;
        resources.push({ method, path, ...(await tryOnce(one, account)) });
      }
      return { clients: CLIENTS, resources, silent };
    },
    close: () => thread.close(),
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

/** Least time first, so that a hostile scan waits for honest ones; then first come, first served. */
function nextInLine(waiting: Waiting[]): Waiting | undefined {
  const [first] = waiting;
  if (first === undefined) return undefined;
  const next = waiting.reduce((a, b) => (b.account.usedMs < a.account.usedMs ? b : a), first);
  waiting.splice(waiting.indexOf(next), 1);
  return next;
}

function keyOf({ seen, solana }: ListedChallenge): string {
  const text = JSON.stringify([seen, solana]);
  return createHash('sha256').update(text).digest('base64');
}
