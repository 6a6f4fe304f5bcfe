import type { InsertOutcome } from './insert-outcome.ts';

/** A payment identifier is unique for one payer on one network. */
export type IdentifierScope = {
  readonly network: string;
  readonly payer: string;
  readonly id: string;
};

export type IdentifierLink = {
  /** 1 for the first, then the last one seen + 1. */
  readonly n: number;
  /** Route and canonical request as one string, as in the ledger. */
  readonly request: string;
  /** The ledger key that this id bound to. */
  readonly key: string;
};

/**
 * The chain of ledger keys that an id bound to, in order; the last link counts. A next link is
 * appended when the key of the last one was released or failed. A chain goes as a whole, 48 h after
 * its last link, once the ledger has purged every key in it.
 */
export type IdentifierStore = {
  /** Returns at most `limit` of the newest links, ascending by `n`; empty for an unknown id. */
  chain(
    scope: IdentifierScope,
    newest: number,
  ): Promise<readonly (IdentifierLink & { readonly atMs: number })[]>;

  /** Inserted before the key is claimed. On `lost`: read the chain again. */
  append(
    scope: IdentifierScope,
    link: IdentifierLink & { readonly attempt: string },
  ): Promise<InsertOutcome>;
};
