export type PaymentTiming = Readonly<ReturnType<typeof toPaymentTiming>>;

/** @param scale below 1 only in tests; it shortens our own pauses, and not the time that other servers get */
export function toPaymentTiming(scale = 1) {
  const resendAfterMs: readonly number[] = [5_000, 30_000, 2 * 60_000, 15 * 60_000];
  return {
    /** Wait of a call for the outcome of its own settlement. */
    reconcileWithinMs: 20_000 * scale,
    /** Wait of a later call with the same payment for that outcome. */
    retryWithinMs: 5_000 * scale,
    /** Wait of a call for its turn. */
    turnWithinMs: 30_000,
    /** Interval of looks at a payment in doubt while a call waits. */
    lookIntervalMs: 1_000 * scale,
    /**
     * Times of the later sends, counted from the first send. The last send moves to three quarters of the validity if
     * that is earlier. The first of these times is also the minimum pause between two sends of a process.
     */
    resendAfterMs: resendAfterMs.map((ms) => ms * scale),
    /** First and longest interval of looks in the background. The interval doubles after each look. */
    firstBackoffMs: 1_000 * scale,
    lastBackoffMs: 3_600_000 * scale,
    /** Pause between two sweeps of the open keys. */
    sweepIntervalMs: 5_000 * scale,
    /** The start waits at most this long for facilitator and node, which are asked again at this interval. */
    startWithinMs: 3_000,
    readinessRetryMs: 5_000,
    /** Timeout of a request to the node that proves settlements, and to the node that sends our transactions. */
    rpcTimeoutMs: 5_000,
    signerRpcTimeoutMs: 8_000,
    verifyTimeoutMs: 10_000,
    /** A settlement waits for a block. The reconciler looks up settlements that take longer. */
    settleTimeoutMs: 30_000,
    /** A facilitator answers when its node has the block; our node may get the block some seconds later. */
    receiptWithinMs: 5_000,
    /** Longest wait for our transaction to be mined. After this time the payment is in doubt. */
    confirmationTimeoutMs: 25_000,
    /** Interval of looks at our unconfirmed transactions. */
    pollIntervalMs: 500,
    /** Interval of repeated broadcasts, because a node may have lost the first one. */
    repeatAfterMs: 3_000,
    /** No payments are taken while a transaction of ours is unconfirmed for longer than this. */
    stuckAfterMs: 60_000,
    /** Interval at which the balance of our account is read. */
    balanceIntervalMs: 30_000,
  };
}
