/** A facilitator that answers what a test tells it. */
import type {
  Facilitator,
  FacilitatorRequest,
  SettleOutcome,
  SupportedKind,
  VerifyOutcome,
} from '../../src/payment/settle/facilitator.ts';

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
  return {
    kind: 'remote',
    location: 'a stub',
    verified: [],
    sent: [],
    verdict: { kind: 'valid' },
    outcomes: [{ kind: 'settled', transaction: TRANSACTION }],
    kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }],
    async findSupported() {
      if (this.kinds instanceof Error) throw this.kinds;
      return this.kinds;
    },
    async verify(request) {
      this.verified.push(request);
      return this.verdict;
    },
    async settle(request) {
      this.sent.push(request);
      const next = this.outcomes.length > 1 ? this.outcomes.shift() : this.outcomes[0];
      if (next === undefined) throw new Error('the stub was told no outcome');
      return next;
    },
  };
}
