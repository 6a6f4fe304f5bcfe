/** Paid routes and paid calls, as the gate sees them. */
import type { Address, Hex } from 'viem';

/** The parts of a request that make its input. */
export type PaidRequest = {
  /** Parsed JSON body; undefined if there is none. */
  readonly body: unknown;
  readonly query: unknown;
};

/** Facts of a call that its computation may use. */
export type ComputeContext = {
  /** The payer's address, lower case. */
  readonly payer: string;
  /** The last scan that an earlier call with this authorization computed; left out if none did. */
  readonly earlierScanId: string | undefined;
  /** Called with the scan that the computation waits for, once it is known. */
  readonly onScan: (scanId: string) => void;
};

/** A 200, about to be stored and then charged. Everything else is thrown. */
export type ComputedAnswer = {
  /** Finished scan that the answer is about; published once it is paid for. */
  readonly scanId?: string | undefined;
} & (
  | {
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
      /** The scan whose report the body repeats. The report is stored once, and the answer refers to it. */
      readonly reportOf?: string | undefined;
    }
  /** An answer that is stored already, complete, and serves several payers. */
  | { readonly answerId: string }
);

/** Example and schema of input and output, as the bazaar extension of x402 wants them. */
export type DiscoveryExample = {
  readonly input: Readonly<Record<string, unknown>>;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly output: {
    readonly example: Readonly<Record<string, unknown>>;
    readonly schema: Readonly<Record<string, unknown>>;
  };
};

/** Limits costly work, which goes on when its payer leaves. */
export type WorkLimit<Input> = {
  /** Limit of computations at once in this process. */
  readonly maxRunning: number;
  /** True if the work is done or under way, so that this call adds none. */
  isShared(input: Input, payer: string): Promise<boolean>;
  /** True if this payer's own earlier call has finished the work that it asks for. */
  isFinished(input: Input, payer: string): Promise<boolean>;
};

export type PaidRoute<Input = unknown> = {
  /** First word of the request in the ledger; must never change. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly description: string;
  /** Base units of the asset. */
  readonly priceBaseUnits: bigint;
  readonly maxTimeoutSeconds: number;
  /** Time that must be left until `validBefore` of a new payment, ms. */
  readonly minValidityMs: number;
  /** The answer may be read for free elsewhere, so a redelivery gives nothing away. */
  readonly isPublic: boolean;
  readonly discovery: DiscoveryExample;

  /** Throws the error to be answered (400) if the input is bad. Local and quick. */
  parse(request: PaidRequest): Input;
  /** Refuses input after a look at the network; called only for new work. */
  admit?(input: Input): Promise<void>;
  /** The text of an input: one payment buys only inputs with the same text. */
  toCanonicalText(input: Input): string;
  /** The host that the work is about, if it is about one. */
  toHost?(input: Input): string;
  /** True while new work would be refused; asked before anything is verified. */
  isSaturated?(input?: Input): boolean;
  /** Goes on when its caller leaves; the result is kept for the payer. */
  compute(input: Input, context: ComputeContext): Promise<ComputedAnswer>;
  /** Makes a paid scan public. May be run again after a crash, and by several instances at once. */
  publish?(scanId: string): Promise<void>;
  readonly workLimit?: WorkLimit<Input> | undefined;
};

/** Names the request that one authorization buys. */
export function toRequestName<Input>(route: PaidRoute<Input>, input: Input): string {
  return `${route.name} ${route.toCanonicalText(input)}`;
}

export function parseRouteName(request: string): string {
  return request.slice(0, request.indexOf(' '));
}

/** The members of EIP-3009 `TransferWithAuthorization`, as they were signed. */
export type Authorization = {
  readonly from: Address;
  readonly to: Address;
  /** Base units. */
  readonly value: bigint;
  /** Seconds since the epoch. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
};

/** A payment header, decoded and checked for its form; the signature is not verified yet. */
export type SignedPayment = {
  readonly authorization: Authorization;
  readonly signature: Hex;
  /** The terms that the payer claims to have accepted; a v1 payload has only scheme and network. */
  readonly accepted: {
    readonly scheme: string;
    readonly network: string;
    readonly asset: string | null;
    readonly amount: string | null;
    readonly payTo: string | null;
  };
  /** `payment-identifier` of the payload, not yet checked for form; null if none was given. */
  readonly identifier: unknown;
  /** The request carried `X-PAYMENT`, so the answer carries `X-PAYMENT-RESPONSE`. */
  readonly hasLegacyHeader: boolean;
};

/** One request for a paid route, whatever framework it came in by. */
export type PaidCall = {
  readonly payment: SignedPayment;
  readonly request: PaidRequest;
  /** Address or block of addresses, for fair shares; null if it cannot be known. */
  readonly client: string | null;
  /** When the call gets a 504, ms of `performance.now()`; a settlement that has begun goes on. */
  readonly deadlineMs: number;
  /** Aborted when the client disconnects before its answer is written. */
  readonly disconnect: AbortSignal;
};

export type PaidAnswer = {
  readonly status: 200 | 402;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<Uint8Array>;
  /** Must be called when the last byte was handed to the client's connection. */
  markWritten(): void;
};
