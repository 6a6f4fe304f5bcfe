import { setTimeout as delay } from 'node:timers/promises';
import type { Origin } from '../guard/origin.ts';
import type { Client } from '../limits/client-key.ts';
import type { OriginTurn, OriginTurns } from '../limits/origin-turns.ts';
import { Saturated } from '../model/errors.ts';
import { READING_SPACING_MS } from '../store/ownership.ts';
import type { Store } from '../store/store.ts';
import { type FetchToken, hashSecret, type UnusableReason } from './ownership-token.ts';

/** Result of a reading. It has the hash of the text, so that the store never holds a token. */
export type TokenFinding =
  | { readonly kind: 'served'; readonly textHash: string }
  | { readonly kind: 'unusable'; readonly reason: UnusableReason; readonly detail: string };

export type TokenReading = {
  readonly finding: TokenFinding;
  /** Database time; identifies the reading among those of its host. */
  readonly beganAtMs: number;
};

/**
 * Resolves with a reading of the last 10 s, of any caller, if it found the file that this caller served; else with the
 * first reading that begins after this call. Throws ScannerFailed; Saturated when the caller hangs up, or the service stops.
 */
export type ReadToken = (
  origin: Origin,
  caller: Client,
  isFound: (finding: TokenFinding) => boolean,
) => Promise<TokenReading>;

export type TokenReaderOptions = {
  readonly store: Store;
  readonly fetchToken: FetchToken;
  readonly turns: OriginTurns;
  readonly stopping: AbortSignal;
  /** Resolves after `ms`; rejects when the signal aborts. */
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
};

/** A reading of a host in this process. Callers share it until it begins. */
type SharedReading = {
  /** The address blocks of the callers. The reading waits for the turn of one of them; more may join until it begins. */
  readonly blocks: Set<string>;
  /** Aborted for each caller who waits no more. */
  readonly signals: AbortSignal[];
  hasBegun: boolean;
  /** Null if it did not begin: another instance reads the host now, or nobody waits any more. */
  readonly result: Promise<TokenReading | null>;
};

type Caller = {
  readonly block: string;
  /** Aborted when the caller hangs up, and when the service stops. */
  readonly signal: AbortSignal;
  shared: SharedReading | null;
};

function join(shared: SharedReading, { block, signal }: Pick<Caller, 'block' | 'signal'>) {
  shared.blocks.add(block);
  shared.signals.push(signal);
  return shared;
}

export function createTokenReader(options: TokenReaderOptions): ReadToken {
  const { store, turns, stopping } = options;
  const { wait = (ms, signal) => delay(ms, undefined, { signal }) } = options;
  const { ownership } = store;
  const readings = new Map<string, SharedReading>();

  function shareReading(origin: Origin, { block, signal }: Caller): SharedReading {
    const known = readings.get(origin.host);
    if (known && !known.hasBegun) return join(known, { block, signal });
    const { promise, resolve } = Promise.withResolvers<TokenReading | null>();
    const shared = {
      blocks: new Set([block]),
      signals: [signal],
      hasBegun: false,
      result: promise,
    };
    readings.set(origin.host, shared);
    resolve(read(origin, shared));
    return shared;
  }

  async function read(origin: Origin, shared: SharedReading): Promise<TokenReading | null> {
    const turn = await turns.enter({ origin, blocks: shared.blocks });
    let handshakeMs = 0;
    try {
      if (turn === null) throw new Saturated();
      if (shared.signals.every(({ aborted }) => aborted)) return null;
      // Later callers do not share this one: it may have asked before they came.
      shared.hasBegun = true;
      const slot = await ownership.beginReading(origin.host);
      if (!slot.taken) return null;
      const fetched = await fetchFinding(options, origin, turn, slot.atMs);
      handshakeMs = fetched.handshakeMs;
      return fetched.reading;
    } finally {
      if (readings.get(origin.host) === shared) readings.delete(origin.host);
      turn?.end(handshakeMs);
    }
  }

  /** Shares a new reading if one may begin now. Else waits and returns null: the caller looks at the findings again. */
  async function shareOrWait(origin: Origin, caller: Caller): Promise<TokenReading | null> {
    const running = readings.get(origin.host);
    const dueInMs = (await ownership.findReadingDueAtMs(origin.host)) - store.now();
    // Only the callers that share the running reading get its error.
    if (running?.hasBegun) await running.result.catch(() => null);
    else if (dueInMs > 0) await wait(dueInMs, caller.signal);
    else {
      caller.shared = shareReading(origin, caller);
      const reading = await caller.shared.result;
      caller.shared = null;
      return reading;
    }
    return null;
  }

  return async (origin, { block, disconnect }, isFound) => {
    const arrivedAtMs = store.now();
    const signal = AbortSignal.any(disconnect ? [stopping, disconnect] : [stopping]);
    const caller: Caller = { block, signal, shared: null };
    const departure = Promise.withResolvers<never>();
    // A reading that has begun answers its callers, also while the service stops.
    const leave = () => caller.shared?.hasBegun || departure.reject(new Saturated());
    signal.addEventListener('abort', leave);

    const isAnswer = ({ beganAtMs, finding }: TokenReading) =>
      beganAtMs > arrivedAtMs || (beganAtMs > arrivedAtMs - READING_SPACING_MS && isFound(finding));
    async function answer(): Promise<TokenReading> {
      for (;;) {
        if (signal.aborted) throw new Saturated();
        const known = (await readFindings(store, origin)).findLast(isAnswer);
        const reading = known ?? (await shareOrWait(origin, caller));
        if (reading !== null) return reading;
      }
    }
    try {
      return await Promise.race([departure.promise, answer()]);
    } finally {
      // Node keeps a combined signal alive as long as anybody listens to it.
      signal.removeEventListener('abort', leave);
    }
  };
}

/** Fetches the file once, and stores the finding for all others who wait for one. */
export async function fetchFinding(
  { store, fetchToken }: Pick<TokenReaderOptions, 'store' | 'fetchToken'>,
  origin: Origin,
  turn: OriginTurn,
  beganAtMs: number,
): Promise<{ readonly reading: TokenReading; readonly handshakeMs: number }> {
  const fetched = await fetchToken(origin, (addresses) => turn.toward(addresses));
  const { handshakeMs = 0, ...served } = fetched;
  const finding =
    served.kind === 'unusable' ? served : { kind: served.kind, textHash: hashSecret(served.text) };
  const stored = { beganAtMs, finding: JSON.stringify(finding) };
  await store.ownership.saveFinding(origin.host, stored);
  return { reading: { finding, beganAtMs }, handshakeMs };
}

/** The findings of the last minute, oldest first. */
export async function readFindings(
  { ownership }: Pick<Store, 'ownership'>,
  { host }: Origin,
): Promise<readonly TokenReading[]> {
  const findings = await ownership.readFindings(host);
  // `fetchFinding` is the only writer of this text.
  return findings.map((one) => ({ ...one, finding: JSON.parse(one.finding) }));
}
