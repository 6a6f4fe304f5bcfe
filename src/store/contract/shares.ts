export type Share = {
  readonly holder: string;
  readonly n: number;
  readonly attempt: string;
};

/**
 * So many of something a holder may have open at once, among all instances. Each share is one insert
 * of `(holder, n)`, so racing callers cannot all read that there is room. A share is open until it
 * is released or expires, or until its owner is silent.
 */
export type ShareStore = {
  /** Takes one more, or answers null where `limit` are open. */
  take(request: {
    readonly holder: string;
    readonly limit: number;
    /** Random, new for every share; kept the same when it is tried again. */
    readonly attempt: string;
    readonly lifetimeMs: number;
    /** It counts until it expires, whatever becomes of the process that took it. */
    readonly outlivesOwner?: boolean;
  }): Promise<Share | null>;

  release(share: Share): Promise<void>;
};
