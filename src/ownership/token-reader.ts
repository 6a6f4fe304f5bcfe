import { setTimeout as delay } from 'node:timers/promises';
import type { Origin } from '../guard/origin.ts';
import type { Client } from '../limits/client-key.ts';
import type { OriginTurn, OriginTurns } from '../limits/origin-turns.ts';
import { Saturated } from '../model/errors.ts';
import type { Store } from '../store/store.ts';
import type { FetchChallenge, UnusableReason } from './ownership-token.ts';
import { hashSecret } from './ownership-token.ts';

/** Result of a fetch. It has the hash of the text, so that the store never holds a token. */
export type ChallengeFinding =
  | { readonly kind: 'served'; readonly textHash: string }
  | { readonly kind: 'unusable'; readonly reason: UnusableReason; readonly detail: string };

export type ChallengeReading = {
  readonly finding: ChallengeFinding;
  /** Database time; identifies the fetch among those of its host. */
  readonly beganAtMs: number;
};

export type ChallengeReader = {
  /**
   * Resolves with the result of a fetch that begins after this call. Throws ScannerFailed, and Saturated
   * once the reader is stopped.
   */
  read(origin: Origin, client: Client): Promise<ChallengeReading>;
  /** Rejects the callers that wait for a fetch that has not begun. */
  stop(): void;
};

export type ChallengeReaderOptions = {
  readonly store: Store;
  readonly fetchChallenge: FetchChallenge;
  readonly turns: OriginTurns;
  /** Resolves after `ms`; rejects when the signal aborts. */
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
};

type Waiter = {
  readonly arrivedAtMs: number;
  readonly resolve: (reading: ChallengeReading) => void;
  readonly reject: (error: unknown) => void;
};

/** The callers that wait for the next fetch of one host. */
type Round = { readonly origin: Origin; readonly blocks: Set<string>; waiters: Waiter[] };

export function createChallengeReader(options: ChallengeReaderOptions): ChallengeReader {
  const { store, fetchChallenge, turns, wait = waitOnClock } = options;
  const { ownership } = store;
  const rounds = new Map<string, Round>();
  const stopping = new AbortController();

  async function run(round: Round): Promise<void> {
    const { host } = round.origin;
    try {
      for (;;) {
        const dueAtMs = await ownership.challengeFetchDueAtMs(host);
        if (dueAtMs > store.now()) await wait(dueAtMs - store.now(), stopping.signal);
        await answerFromOthers(store, round);
        if (round.waiters.length === 0) return;
        if (await fetchInTurn(round)) return;
      }
    } catch (error) {
      // `stop` has rejected all waiters already.
      for (const waiter of round.waiters) waiter.reject(error);
    } finally {
      if (rounds.get(host) === round) rounds.delete(host);
    }
  }

  /** False where another instance fetches this host now. */
  async function fetchInTurn(round: Round): Promise<boolean> {
    const { origin, blocks } = round;
    const turn = await turns.enter({ origin, blocks });
    if (turn === null) throw new Saturated();
    let handshakeMs = 0;
    try {
      stopping.signal.throwIfAborted();
      if (round.waiters.length === 0) return true;
      const slot = await ownership.beginChallengeFetch(origin.host);
      if (!slot.taken) return false;
      // Later callers wait for the next fetch.
      rounds.delete(origin.host);
      const fetched = await fetchFinding({ store, fetchChallenge }, origin, turn, slot.atMs);
      handshakeMs = fetched.handshakeMs;
      const { reading } = fetched;
      for (const waiter of round.waiters) waiter.resolve(reading);
      return true;
    } finally {
      turn.end(handshakeMs);
    }
  }

  return {
    async read(origin, { block, disconnect }) {
      // A signal that is aborted already fires no event.
      if (disconnect?.aborted) throw new Saturated();
      const { promise, resolve, reject } = Promise.withResolvers<ChallengeReading>();
      const waiter: Waiter = { arrivedAtMs: store.now(), resolve, reject };
      const open = rounds.get(origin.host);
      const round: Round = open ?? { origin, blocks: new Set([block]), waiters: [] };
      round.waiters.push(waiter);
      round.blocks.add(block);
      disconnect?.addEventListener('abort', () => leave(round, waiter), { once: true });
      if (open) return promise;
      rounds.set(origin.host, round);
      // Settles every waiter, and never rejects.
      void run(round);
      return promise;
    },
    stop() {
      stopping.abort();
      for (const { waiters } of rounds.values()) {
        for (const waiter of waiters) waiter.reject(new Saturated());
      }
    },
  };
}

/** Answers waiters by the fetch of a watch or of another instance that began after they had asked. */
async function answerFromOthers(store: Store, round: Round): Promise<void> {
  const found = await readFindings(store, round.origin);
  const left: Waiter[] = [];
  for (const waiter of round.waiters) {
    const since = found.find(({ beganAtMs }) => beganAtMs > waiter.arrivedAtMs);
    if (since === undefined) left.push(waiter);
    else waiter.resolve(since);
  }
  round.waiters = left;
}

/** Fetches the file once, and stores the finding for all others who wait for one. */
export async function fetchFinding(
  { store, fetchChallenge }: Pick<ChallengeReaderOptions, 'store' | 'fetchChallenge'>,
  origin: Origin,
  turn: OriginTurn,
  beganAtMs: number,
): Promise<{ readonly reading: ChallengeReading; readonly handshakeMs: number }> {
  const fetched = await fetchChallenge(origin, (addresses) => turn.toward(addresses));
  const { handshakeMs = 0, ...served } = fetched;
  const finding =
    served.kind === 'unusable' ? served : { kind: served.kind, textHash: hashSecret(served.text) };
  const stored = { beganAtMs, finding: JSON.stringify(finding) };
  await store.ownership.noteFinding(origin.host, stored);
  return { reading: { finding, beganAtMs }, handshakeMs };
}

/** The findings of the last minute, oldest first. */
export async function readFindings(
  { ownership }: Pick<Store, 'ownership'>,
  { host }: Origin,
): Promise<readonly ChallengeReading[]> {
  const found = await ownership.findings(host);
  // `fetchFinding` is the only writer of this text.
  return found.map((one) => ({ ...one, finding: JSON.parse(one.finding) }));
}

/** Rejects a waiter; a fetch without waiters does not begin. */
function leave(round: Round, waiter: Waiter): void {
  round.waiters = round.waiters.filter((one) => one !== waiter);
  waiter.reject(new Saturated());
}

async function waitOnClock(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}
