/** What a paid route says of itself, and one call of it; the gate does the rest. */
import type { PaymentHeaders } from './payment-header.ts';

/** The parts of a request that make its input. */
export interface PaidRequest {
  /** Parsed JSON body; undefined where there is none. */
  readonly body: unknown;
  readonly query: unknown;
}

/** What a computation may know of the call that it serves. */
export interface ComputeContext {
  /** The payer's address, lower case. */
  readonly payer: string;
  /** Until then the caller is answered 504; `compute` may throw `ScanProcessing` by itself. */
  readonly withinMs: number;
  /** Scans that earlier calls under this very authorization computed, newest first. */
  readonly earlierScanIds: readonly string[];
}

/** A 200, about to be stored and then charged. Everything else is thrown. */
export type ComputedAnswer = {
  /** Finished scan that the answer is about; published once it is paid for. */
  readonly scanId?: string | undefined;
} & (
  | {
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
    }
  /** An answer that is stored already, complete, and serves several payers. */
  | { readonly answerId: string }
);

/** Whether payers walk away from finished work; only routes whose work costs something have it. */
export interface UnpaidWork {
  note(mark: { readonly payer: string; readonly scanId: string }): Promise<void>;
  clear(mark: { readonly payer: string; readonly scanId: string }): Promise<void>;
  /** When this payer may ask again, ms since the epoch; null while nothing stands against it. */
  blockedUntilMs(payer: string): Promise<number | null>;
}

/** Example and schema of input and output, as the bazaar extension of x402 wants them. */
export interface DiscoveryExample {
  readonly input: Readonly<Record<string, unknown>>;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly output: {
    readonly example: Readonly<Record<string, unknown>>;
    readonly schema: Readonly<Record<string, unknown>>;
  };
}

export interface PaidRoute<Input = unknown> {
  /** First word of the request as the ledger knows it; never changes. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly description: string;
  /** Base units of the asset. */
  readonly priceBaseUnits: bigint;
  readonly maxTimeoutSeconds: number;
  /** How far ahead `validBefore` of a new payment must be, ms. */
  readonly minValidityMs: number;
  readonly discovery: DiscoveryExample;

  /** Throws the error to be answered (400) where the input is bad. Local and quick. */
  parse(request: PaidRequest): Input;
  /** Refuses what must not be worked on, by means of the network; skipped for known payments. */
  admit?(input: Input): Promise<void>;
  /** Equal for inputs that one payment may buy. */
  canonical(input: Input): string;
  /** True while new work would be refused; asked before anything is verified. */
  isSaturated?(): boolean;
  compute(input: Input, context: ComputeContext): Promise<ComputedAnswer>;
  /** Makes a paid scan public. May be run again after a crash, and by several hosts at once. */
  publish?(scanId: string): Promise<void>;
  readonly unpaidWork?: UnpaidWork | undefined;
}

/** One authorization buys one of these. */
export function requestOf<Input>(route: PaidRoute<Input>, input: Input): string {
  return `${route.name} ${route.canonical(input)}`;
}

export function routeNameOf(request: string): string {
  return request.slice(0, request.indexOf(' '));
}

/** One request for a paid route, whatever framework it came in by. */
export interface PaidCall {
  readonly headers: PaymentHeaders;
  readonly request: PaidRequest;
  /** When it is answered 504, unless its payment is being settled: `performance.now()` of then. */
  readonly deadlineMs: number;
  /** Aborted when the client has gone before its answer was written. */
  readonly gone: AbortSignal;
}

export interface PaidAnswer {
  readonly status: 200 | 402;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<Uint8Array>;
  /** To be called when the last byte was handed to the client's connection. */
  written(): void;
}

/** The client hung up: nobody is left to be answered. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
