/** Settings of indexes and nodes. A start needs them before the first scan, so nothing here loads an HTTP client. */
import PQueue from 'p-queue';
import type { AnswerReader } from '../third-parties/answer-reader.ts';

export type SourceOptions = {
  /** Null disables a source. */
  readonly x402scanUrl: string | null;
  readonly bazaarUrl: string | null;
  readonly ecosystemUrl: string | null;
  readonly rpcUrl: string | null;
  readonly solanaRpcUrl?: string | null | undefined;
  /** Address and network (CAIP-2) of the asset whose settlement logs are read. */
  readonly asset: string;
  readonly network: string;
  readonly userAgent: string;
  /** Limits the rate of calls to the node. Absent if nothing else uses the node. */
  readonly chainTurn?: LookupTurn | undefined;
  /** By default, the lookups create their own reader. */
  readonly answers?: AnswerReader | undefined;
};

/** Resolves when the next call may be sent. Rejects if the signal aborts first. */
export type LookupTurn = (signal: AbortSignal) => Promise<void>;

/** A lookup of a busy address needs all calls of one interval. */
const CALLS_PER_INTERVAL = 30;
const INTERVAL_MS = 3_000;

export function createLookupLimiter(
  intervalCap = CALLS_PER_INTERVAL,
  interval = INTERVAL_MS,
): LookupTurn {
  const queue = new PQueue({ concurrency: 1, intervalCap, interval, strict: true });
  return (signal) => queue.add(async () => {}, { signal });
}
