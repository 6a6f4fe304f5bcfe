import type { Owner } from './owner.ts';

/** A name in parts, such as `['open-claim', payer]`; the slots of one scope are counted together. */
export type SlotScope = readonly string[];

export type SlotRequest = {
  readonly scope: SlotScope;
  /** Slots of the scope are numbered from 0 to `limit` - 1, and one row holds each. */
  readonly limit: number;
  /** The slot is freed after this long at the latest. */
  readonly lifetimeMs: number;
  /**
   * `true`: the slot stands for work of this instance, and is free once the instance is gone.
   * `false`: it stands for something that happened, and only time frees it.
   */
  readonly endsWithOwner: boolean;
  /** Scopes that are read together, such as those of all clients of a host. */
  readonly group?: string | undefined;
  /** Random, new for every slot; the same when tried again, which then finds its own. */
  readonly attempt?: string | undefined;
  /** Kept with the slot. */
  readonly data?: string | undefined;
};

export type Slot = {
  readonly n: number;
  /** Random, new for each slot that was taken. */
  readonly attempt: string;
  readonly owner: Owner;
  /** Database time, ms. */
  readonly takenAtMs: number;
  readonly expiresAtMs: number;
  readonly data: string | null;
};

export type SlotOutcome =
  | { readonly taken: true; readonly slot: Slot }
  /** Time at which a slot is free again at the latest. */
  | { readonly taken: false; readonly retryAtMs: number };

/**
 * Slots of a scope. A slot is taken by inserting its number, so the limit holds however many instances
 * race for it. Expired slots are deleted, so a scope without live slots has no rows.
 */
export type SlotStore = {
  /** Takes a free number of the scope, or says when one is free again. */
  take(request: SlotRequest): Promise<SlotOutcome>;

  /** Frees the slot at once; does nothing to a later holder of its number. */
  release(slot: Pick<Slot, 'attempt'>): Promise<void>;

  /** The slots that are taken now, oldest first. */
  live(which: SlotScope | { readonly group: string }): Promise<readonly Slot[]>;
};
