/** A facilitator that answers what a test tells it. */
import type {
  Facilitator,
  FacilitatorRequest,
  SettleOutcome,
  SupportedKind,
  VerifyOutcome,
} from '../../../src/service/payment/settle/facilitator.ts';

export type StubFacilitator = Facilitator & {
  readonly verified: FacilitatorRequest[];
  readonly sent: FacilitatorRequest[];
  /** Answer to the next calls. The last outcome of the list stays. */
  verdict: VerifyOutcome | Promise<VerifyOutcome>;
  outcomes: (SettleOutcome | Promise<SettleOutcome>)[];
  kinds: readonly SupportedKind[] | Error;
};

export const TRANSACTION = `0x${'cd'.repeat(32)}` as const;

/** Answers what a test tells it to, and remembers what it was asked. */
export function stubFacilitator(): StubFacilitator {
  const stub: StubFacilitator = {
    kind: 'remote',
    location: 'a stub',
    verified: [],
    sent: [],
    verdict: { kind: 'valid' },
    outcomes: [{ kind: 'settled', transaction: TRANSACTION }],
    kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }],
    async findSupported() {
      if (stub.kinds instanceof Error) throw stub.kinds;
      return stub.kinds;
    },
    async verify(request) {
      stub.verified.push(request);
      return stub.verdict;
    },
    async settle(request) {
      stub.sent.push(request);
      const next = stub.outcomes.length > 1 ? stub.outcomes.shift() : stub.outcomes[0];
      if (next === undefined) throw new Error('the stub was told no outcome');
      return next;
    },
  };
  return stub;
}

/** A facilitator whose first settlement ends only after `settle` is called. */
export function slowFacilitator() {
  const facilitator = stubFacilitator();
  const { promise, resolve: settle } = Promise.withResolvers<void>();
  const settled: SettleOutcome = { kind: 'settled', transaction: TRANSACTION };
  facilitator.outcomes = [promise.then(() => settled), settled];
  return { facilitator, settle };
}
