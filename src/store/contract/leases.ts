import type { Owner } from './owner.ts';

export type Lease = {
  readonly name: string;
  /** 1, 2, 3 … for each name: who holds the greatest turn holds the lease. */
  readonly turn: number;
  readonly owner: Owner;
  readonly attempt: string;
  readonly takenAtMs: number;
  readonly expiresAtMs: number;
};

export type LeaseOutcome =
  | { readonly held: true; readonly lease: Lease }
  | { readonly held: false; readonly heldBy: Lease };

/**
 * One holder per name among all instances (`scan:<host>`, `refresh:<source>`). Each turn is one insert
 * of `(name, turn)`. A turn is over when it was released, has expired, or its owner is silent.
 */
export type LeaseStore = {
  /** Takes the next turn if the last one is over. `attempt` is random, the same when tried again. */
  take(request: {
    readonly name: string;
    readonly attempt: string;
    readonly lifetimeMs: number;
  }): Promise<LeaseOutcome>;

  /** True while this very turn is the last one, and not over. */
  isHeld(lease: Lease): Promise<boolean>;

  /** Ends the own turn; does nothing to a later one. */
  release(lease: Lease): Promise<void>;
};
