/** Types of the table of schemes, which has one row for each pair of scheme and namespace. */
import type { Namespace } from './namespaces.ts';

/** The money moves after the work (authorization), before the work (upfront), or first into an escrow (escrow). */
type PaymentFlow = 'authorization' | 'upfront' | 'escrow';

/**
 * `client`: an official client tries each offer of a scan, beside the rules of the row. `tests`: an official client
 * confirms the rules of the row in our tests. `passive`: only the rules of the row judge an offer. `named`: the row has
 * no rules, so an offer is judged only by the rules for all offers.
 */
export type JudgedBy = 'client' | 'tests' | 'passive' | 'named';

/** A document of the x402 repository, in the version from which the row was written. */
export type Specification = {
  /** "specs/schemes/exact/scheme_exact_evm.md" */
  readonly file: string;
  /** The git blob of the version; null if only a commit with the version is known. */
  readonly blob: string | null;
  /** A commit with the version, if its blob is not known. */
  readonly commit?: string;
  /** The day on which a maintainer read the document: "2026-11-24". */
  readonly read: string;
};

const READ_ON = '2026-11-24';

/** `chain` ends the name of the document: "evm" in "scheme_exact_evm.md". */
export function atBlob(scheme: string, chain: string, blob: string): Specification {
  return { file: toSpecificationFile(scheme, chain), blob, read: READ_ON };
}

/** Names the version by a commit, because the blob is not known. */
export function atCommit(scheme: string, chain: string, commit: string): Specification {
  return { file: toSpecificationFile(scheme, chain), blob: null, commit, read: READ_ON };
}

function toSpecificationFile(scheme: string, chain: string): string {
  return `specs/schemes/${scheme}/scheme_${scheme.replaceAll('-', '_')}_${chain}.md`;
}

/**
 * The form of a value. `address` may also be the zero address. `bits`: an unsigned integer of at most this many bits,
 * and at least `from`. `least` and `most` are inclusive; with `coversTimeout`, the value is at least maxTimeoutSeconds.
 * `absent`: the member must not exist.
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
  /** If present, only this transfer method requires the member. */
  readonly onlyBy?: string;
  /** If present, only this flow requires the member. */
  readonly onlyIn?: PaymentFlow;
  /** The member may be missing. If it is present, it must have the form. */
  readonly isOptional?: true;
  /** The member is not required for this asset. */
  readonly unlessAsset?: string;
};

export type SchemeRow = {
  readonly scheme: string;
  readonly namespace: Namespace;
  readonly judgedBy: JudgedBy;
  /** Members of `extra`. */
  readonly requires: readonly ExtraMember[];
  /** Values of `extra.paymentFlow`, the default first; null if we do not judge them. */
  readonly flows: readonly PaymentFlow[] | null;
  /** A ceiling is the most that the seller may charge. The buyer learns the price after the work. */
  readonly amount: 'price' | 'ceiling';
  /** The largest amount that the contracts of the scheme can hold, if it is below the limit of the network. */
  readonly maxAmount?: bigint;
  /** The longest timeout, in seconds, that the contracts of the scheme can hold. */
  readonly maxTimeoutSeconds?: number;
  /** Package of the installed client that pays the scheme; null if no installed client does. */
  readonly client: string | null;
  /** Values of `assetTransferMethod` in the specification, the default first. */
  readonly methods?: readonly string[];
  /** The transfer methods that the client supports; absent if it supports all. */
  readonly paidMethods?: readonly string[];
  /** Null if the x402 repository has no such document. `draft` then gives the reason. */
  readonly specification: Specification | null;
  readonly draft?: string;
};
