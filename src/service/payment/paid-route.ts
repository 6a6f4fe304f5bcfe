/** Types of paid routes and paid calls, which know no web framework. */
import type { Address, Hex } from 'viem';

/** The parts of a request from which a route parses its input. */
type PaidRequest = {
  /** Parsed JSON body; undefined if there is none. */
  readonly body: unknown;
  readonly query: unknown;
};

/** Facts of a call that its computation may use. */
export type ComputeContext = {
  /** The payer's address, lower case. */
  readonly payer: string;
  /** The last scan that a call with this authorization computed earlier; undefined if there is none. */
  readonly earlierScanId: string | undefined;
  /** The computation calls this when it knows the scan that it waits for. */
  readonly onScan: (scanId: string) => void;
};

/** A 200 that will be stored and then charged. A computation throws for every other answer. */
export type ComputedAnswer = {
  /** Finished scan that the answer is about; it is published once the answer is paid for. */
  readonly scanId?: string | undefined;
} & (
  | {
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      /** Scan whose report the body repeats. The store keeps the report once, and the answer refers to it. */
      readonly reportOf?: string | undefined;
    }
  /** A complete answer that is already stored and is sold to several payers. */
  | { readonly answerId: string }
);

/** Example and schema of input and output, in the form of x402's bazaar extension. */
export type DiscoveryExample = {
  readonly input: Readonly<Record<string, unknown>>;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly output: {
    readonly example: Readonly<Record<string, unknown>>;
    readonly schema: Readonly<Record<string, unknown>>;
  };
};

/** Limits work that is costly and continues when its caller disconnects. */
type WorkLimit<Input> = {
  /** Computations that may run at once in this process. */
  readonly maxRunning: number;
  /** True if the work already runs for any payer, or `isFinished`. This call then adds no work. */
  isShared(input: Input, payer: string): Promise<boolean>;
  /** True if an earlier call of this payer has finished the work. */
  isFinished(input: Input, payer: string): Promise<boolean>;
};

export type PaidRoute<Input = unknown> = {
  /** First word of a request's name in the ledger. It must never change. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly description: string;
  /** Base units of the asset. */
  readonly priceBaseUnits: bigint;
  readonly maxTimeoutSeconds: number;
  /** `validBefore` of a new payment must be at least this far in the future. */
  readonly minValidityMs: number;
  /** True if the answer can be read for free elsewhere, so that anybody may fetch it again. */
  readonly isPublic: boolean;
  readonly discovery: DiscoveryExample;

  /** Throws the error to answer (400) if the input is invalid. Does no I/O. */
  parse(request: PaidRequest): Input;
  /** Throws if the network shows that the input must be refused. Called only for new work. */
  admit?(input: Input): Promise<void>;
  /** Text that names an input. One payment buys only inputs with the same text. */
  toCanonicalText(input: Input): string;
  /** Host of the seller that the work is about, if there is one. */
  toHost?(input: Input): string;
  /** True while new work is refused. Called without an input before the request is parsed. */
  isSaturated?(input?: Input): boolean;
  /** Does the work. It continues when the caller disconnects, and its result is kept for the payer. */
  compute(input: Input, context: ComputeContext): Promise<ComputedAnswer>;
  /** Makes a paid scan public. It may run again after a crash, and on several instances at once. */
  publish?(scanId: string): Promise<void>;
  readonly workLimit?: WorkLimit<Input> | undefined;
};

/** Names the request that one authorization buys, as the ledger stores it. */
export function toRequestName<Input>(route: PaidRoute<Input>, input: Input): string {
  return `${route.name} ${route.toCanonicalText(input)}`;
}

/** Reads the name of the route from a request's name. */
export function parseRouteName(request: string): string {
  return request.slice(0, request.indexOf(' '));
}

/** The signed members of `TransferWithAuthorization` (EIP-3009). */
export type Authorization = {
  readonly from: Address;
  readonly to: Address;
  /** Base units. */
  readonly value: bigint;
  /** Seconds since the epoch, like `validBefore`. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
};

/** A decoded payment header of valid form. Its signature is not verified. */
export type SignedPayment = {
  readonly authorization: Authorization;
  readonly signature: Hex;
  /** Terms that the payer says they accepted. A v1 payload has only scheme and network. */
  readonly accepted: {
    readonly scheme: string;
    readonly network: string;
    readonly asset: string | null;
    readonly amount: string | null;
    readonly payTo: string | null;
  };
  /** `payment-identifier` of the payload, whose form is not checked; null if there is none. */
  readonly identifier: unknown;
  /** True if the request carried `X-PAYMENT`, so that the answer carries `X-PAYMENT-RESPONSE`. */
  readonly hasLegacyHeader: boolean;
};

/** The caller's network, by which turns are limited. */
export type PayingClient = {
  /** IPv4 address, or IPv6 block of /48. */
  readonly key: string;
  /** Block of /24 (IPv4) or /48 (IPv6). */
  readonly block: string;
};

/** One request to a paid route that carries a payment. */
export type PaidCall = {
  readonly payment: SignedPayment;
  readonly request: PaidRequest;
  /** Null if the caller's address is unknown. */
  readonly client: PayingClient | null;
  /** Time of `performance.now()` at which the call gets a 504, unless its payment is being settled. */
  readonly deadlineMs: number;
  /** Aborted when the client disconnects before its answer is written. */
  readonly disconnect: AbortSignal;
};

export type PaidRouteAnswer = {
  readonly status: 200 | 402;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<Uint8Array>;
  /** Call this when the last byte was handed to the client's connection. */
  markWritten(): void;
};
