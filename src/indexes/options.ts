import PQueue from 'p-queue';
import type { AnswerReader } from '../answers/answer-reader.ts';

export type EcosystemOptions = {
  /** Null disables a source. */
  readonly x402scanUrl: string | null;
  readonly bazaarUrl: string | null;
  readonly ecosystemUrl: string | null;
  readonly rpcUrl: string | null;
  readonly solanaRpcUrl?: string | null | undefined;
  /** The asset's address and network (CAIP-2) in settlement logs. */
  readonly asset: string;
  readonly network: string;
  readonly userAgent: string;
  /** Awaited before each call to the chain; absent when nothing else uses the node. */
  readonly chainTurn?: LookupTurn | undefined;
  /** Default: one of its own. */
  readonly answers?: AnswerReader | undefined;
};

export type LookupRateOptions = {
  /** Calls per `intervalMs`; one lookup of a busy address uses all of them. */
  readonly calls?: number | undefined;
  readonly intervalMs?: number | undefined;
};

/** Resolves when a call may be made; rejects when the signal aborts first. */
export type LookupTurn = (signal: AbortSignal) => Promise<void>;

const CALLS = 30;
const INTERVAL_MS = 3_000;

export function createLookupRate({
  calls = CALLS,
  intervalMs = INTERVAL_MS,
}: LookupRateOptions = {}): LookupTurn {
  const queue = new PQueue({
    concurrency: 1,
    intervalCap: calls,
    interval: intervalMs,
    strict: true,
  });
  return (signal) => queue.add(async () => {}, { signal });
}
