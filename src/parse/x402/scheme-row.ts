/** The shape of the table of schemes: a row for each pair of scheme and namespace. */
import type { Namespace } from './namespaces.ts';

/** When the money moves: after the work, before it, or into an escrow before it. */
export type PaymentFlow = 'authorization' | 'upfront' | 'escrow';

/**
 * `client`: an official client tries every offer of a scan. `tests`: an official client runs in our tests
 * only. `passive`: the specification's rules judge. `named`: known, and not judged.
 */
export type JudgedBy = 'client' | 'tests' | 'passive' | 'named';

/** A document of the x402 repository, in the version that the row was written from. */
export type Specification = {
  /** "specs/schemes/exact/scheme_exact_evm.md" */
  readonly file: string;
  /** The version's git blob; null when only a commit that holds the version is known. */
  readonly blob: string | null;
  /** A commit that holds the version, when its blob is not known. */
  readonly commit?: string;
  /** The day that somebody read it: "2026-11-24". */
  readonly read: string;
};

/**
 * `address` may be zero, `zero-address` must be. A number of bits is an unsigned integer that fits, at
 * least `from`; a range includes both ends. `ignoresCase` compares as EVM addresses are compared.
 */
export type ExtraForm =
  | 'text'
  | 'memo'
  | 'object'
  | 'address'
  | 'non-zero-address'
  | 'zero-address'
  | 'true'
  | 'false'
  | 'not-true'
  | { readonly bits: number; readonly from?: 1 }
  | { readonly least: number; readonly most: number; readonly coversTimeout?: true }
  | { readonly oneOf: readonly string[]; readonly ignoresCase?: true }
  | { readonly hexDigits: number }
  | 'absent';

export type ExtraMember = {
  readonly name: string;
  readonly form: ExtraForm;
  /** Required by this transfer method only; by all when absent. */
  readonly onlyBy?: string;
  /** Required in this flow only; in all when absent. */
  readonly onlyIn?: PaymentFlow;
  /** Checked only when present. */
  readonly isOptional?: true;
  /** Required for all assets but this one. */
  readonly unlessAsset?: string;
};

export type SchemeRow = {
  readonly scheme: string;
  readonly namespace: Namespace;
  readonly judgedBy: JudgedBy;
  readonly requires: readonly ExtraMember[];
  /** Flows that `extra.paymentFlow` may name, the default first; null when they are not judged. */
  readonly flows: readonly PaymentFlow[] | null;
  /** A ceiling is the most that may be charged; the price is known afterwards. */
  readonly amount: 'price' | 'ceiling';
  /** Largest amount of the scheme's contracts, when below the network's. */
  readonly maxAmount?: bigint;
  /** Longest timeout in seconds that fits into the scheme's contracts. */
  readonly maxTimeoutSeconds?: number;
  /** Package of the client that pays it; null when none is installed and only this table judges. */
  readonly client: string | null;
  /** Values of `assetTransferMethod` in the specification, the default first. */
  readonly methods?: readonly string[];
  /** The methods that the client supports. */
  readonly paidMethods?: readonly string[];
  /** Null when the x402 repository has no such document; `draft` then gives the reason. */
  readonly specification: Specification | null;
  readonly draft?: string;
};
