import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { OriginRefused, OurFault } from '../../scanner/guard/failures.ts';
import type { Origin } from '../../scanner/guard/origin.ts';
import { Saturated, ScannerFailed } from '../errors/errors.ts';
import { READING_SPACING_MS } from '../store/ownership.ts';
import type { Store } from '../store/store.ts';
import type { Client } from '../turns/client-key.ts';
import { NoTurn, type OriginTurns, type TurnClient } from '../turns/origin-turns.ts';

const SECRET_BYTES = 32;

export function createSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Returns SHA-256 in lower-case hex. The store keeps this hash of ownership tokens and listing keys. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares hashes in constant time. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export const TOKEN_PATH = '/.well-known/scanner-challenge';
const MAX_TOKEN_BYTES = 512;
const TOKEN_TIMEOUT_MS = 10_000;

/**
 * The origin's answer at `TOKEN_PATH`. It has only the hash of the served text, so that the store never holds a token.
 * `detail` quotes no text of the origin.
 */
export type TokenFinding =
  | { readonly kind: 'served'; readonly textHash: string }
  | { readonly kind: 'unusable'; readonly reason: UnusableReason; readonly detail: string };

export type UnusableReason = 'unreachable' | 'redirected' | 'wrong_status' | 'too_large';

/** Requests the file once, and reads at most 512 bytes. Throws NoTurn, and ScannerFailed if the fault is ours. */
async function fetchToken(
  origin: Origin,
  client: Pick<TurnClient, 'request'>,
): Promise<TokenFinding> {
  try {
    return await readTokenFile(origin, client);
  } catch (error) {
    // A refused host gets the same result as a host without an address, so that callers cannot find private names.
    if (error instanceof OriginRefused) return toUnusable('unreachable', 'no answer (dns)');
    if (error instanceof OurFault) throw new ScannerFailed(error);
    throw error;
  }
}

async function readTokenFile(
  origin: Origin,
  client: Pick<TurnClient, 'request'>,
): Promise<TokenFinding> {
  const answer = await client.request({
    origin,
    method: 'GET',
    path: TOKEN_PATH,
    accept: 'text/plain',
    capBytes: MAX_TOKEN_BYTES,
    redirects: 'none',
    timeoutMs: TOKEN_TIMEOUT_MS,
  });
  if (!answer.ok) return toUnusable('unreachable', `no answer (${answer.reason})`);
  const { status, body } = answer.data;
  if (status >= 300 && status < 400) return toUnusable('redirected', `a redirect (${status})`);
  if (status !== 200) return toUnusable('wrong_status', `status ${status}`);
  if (answer.truncated) return toUnusable('too_large', `over ${MAX_TOKEN_BYTES} bytes`);
  return { kind: 'served', textHash: hashSecret(body.trimEnd()) };
}

function toUnusable(reason: UnusableReason, detail: string): TokenFinding {
  return { kind: 'unusable', reason, detail };
}

type TokenReading = {
  readonly finding: TokenFinding;
  /** Database time, ms. It identifies the reading among the readings of its host. */
  readonly beganAtMs: number;
};

/**
 * Reads the token file of an origin. If a reading of the last 10 s already found what the caller serves (`isFound`),
 * that reading is the result. Otherwise the result is the first reading that begins after this call. Throws
 * ScannerFailed, and Saturated if the caller hangs up or the service stops.
 */
export type ReadToken = (
  origin: Origin,
  caller: Client,
  isFound: (finding: TokenFinding) => boolean,
) => Promise<TokenReading>;

export type TokenReaderOptions = {
  readonly store: Store;
  readonly turns: OriginTurns;
  readonly stopping: AbortSignal;
  /** Resolves after `ms`; rejects when the signal aborts. */
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
};

/** One reading of a host's file by this process, for several callers. A caller may join it until it begins. */
type SharedReading = {
  /** The address blocks of its callers. The reading begins when the first of these blocks gets a turn. */
  readonly blocks: Set<string>;
  /** One signal for each caller. It is aborted when the caller no longer waits. */
  readonly signals: AbortSignal[];
  /** Resolved when the reading begins, or ends before it begins. */
  readonly begun: PromiseWithResolvers<void>;
  hasBegun: boolean;
  /** Null if the reading did not begin, because another instance reads the host now or no caller waits. */
  readonly result: Promise<TokenReading | null>;
};

export function createTokenReader(options: TokenReaderOptions): ReadToken {
  const { store, turns, stopping } = options;
  const { wait = (ms, signal) => delay(ms, undefined, { signal }) } = options;
  const { ownership } = store;
  const readings = new Map<string, SharedReading>();

  function join(origin: Origin, block: string, signal: AbortSignal): SharedReading {
    const last = readings.get(origin.host);
    const reading = last?.hasBegun === false ? last : planReading(origin, block);
    reading.blocks.add(block);
    reading.signals.push(signal);
    return reading;
  }

  function planReading(origin: Origin, block: string): SharedReading {
    const { promise: result, resolve } = Promise.withResolvers<TokenReading | null>();
    const begun = Promise.withResolvers<void>();
    const blocks = new Set([block]);
    const reading: SharedReading = { blocks, signals: [], begun, hasBegun: false, result };
    readings.set(origin.host, reading);
    resolve(readInTurn(origin, reading));
    // Nobody awaits the result if all callers have left.
    result.catch(() => null);
    return reading;
  }

  async function readInTurn(origin: Origin, reading: SharedReading): Promise<TokenReading | null> {
    try {
      return await turns.ask({ origin, blocks: reading.blocks }, async (client) => {
        if (reading.signals.every(({ aborted }) => aborted)) return null;
        // Later callers may not join this reading, because it may have sent its request before they came.
        reading.hasBegun = true;
        reading.begun.resolve();
        const outcome = await ownership.beginReading(origin.host);
        if (!outcome.taken) return null;
        return await fetchFinding(store, origin, client, outcome.lease.takenAtMs);
      });
    } catch (error) {
      throw error instanceof NoTurn ? new Saturated() : error;
    } finally {
      if (readings.get(origin.host) === reading) readings.delete(origin.host);
      // If the reading ended before it began, its callers must not wait any longer.
      reading.begun.resolve();
    }
  }

  /** Joins a reading, if one may begin now. Otherwise waits, and returns null. The caller then looks again. */
  async function joinOrWait(origin: Origin, block: string, signal: AbortSignal) {
    const running = readings.get(origin.host);
    const waitMs = (await ownership.findReadingDueAtMs(origin.host)) - store.now();
    // Only the callers that share the running reading get its error.
    if (running?.hasBegun) await unlessAborted(signal, Promise.allSettled([running.result]));
    else if (waitMs > 0) await unlessAborted(signal, wait(waitMs, signal));
    else {
      const reading = join(origin, block, signal);
      await unlessAborted(signal, reading.begun.promise);
      // The callers of a reading that has begun get its result, even if the service stops before it ends.
      return reading.result;
    }
    return null;
  }

  return async (origin, { block, disconnect }, isFound) => {
    const arrivedAtMs = store.now();
    const signal = AbortSignal.any(disconnect ? [stopping, disconnect] : [stopping]);
    const isUsable = ({ beganAtMs, finding }: TokenReading) =>
      beganAtMs > arrivedAtMs || (beganAtMs > arrivedAtMs - READING_SPACING_MS && isFound(finding));
    for (;;) {
      if (signal.aborted) throw new Saturated();
      const stored = (await readFindings(store, origin)).findLast(isUsable);
      const reading = stored ?? (await joinOrWait(origin, block, signal));
      if (reading !== null) return reading;
    }
  };
}

/** Waits for `work`. Throws Saturated if the signal is aborted before `work` ends. */
async function unlessAborted(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  if (signal.aborted) throw new Saturated();
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener('abort', aborted.reject);
  try {
    await Promise.race([aborted.promise, work]);
  } catch (error) {
    throw signal.aborted ? new Saturated() : error;
  } finally {
    // Node keeps a combined signal alive while it has a listener.
    signal.removeEventListener('abort', aborted.reject);
  }
}

/** Fetches the file once, and stores the finding for all callers that wait. */
export async function fetchFinding(
  { ownership }: Pick<Store, 'ownership'>,
  origin: Origin,
  client: TurnClient,
  beganAtMs: number,
): Promise<TokenReading> {
  const finding = await fetchToken(origin, client);
  await ownership.saveFinding(origin.host, { beganAtMs, finding: JSON.stringify(finding) });
  return { finding, beganAtMs };
}

/** Reads the findings of the last minute, oldest first. */
export async function readFindings(
  { ownership }: Pick<Store, 'ownership'>,
  { host }: Origin,
): Promise<readonly TokenReading[]> {
  const findings = await ownership.readFindings(host);
  // `fetchFinding` is the only writer of this text.
  return findings.map((stored) => ({ ...stored, finding: JSON.parse(stored.finding) }));
}
