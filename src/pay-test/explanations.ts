import type { TrialId } from './result.ts';

export type TrialExplanation = {
  /** Says what a failure costs the seller. */
  readonly why: string;
  /** One line that says what to do. */
  readonly fix: string;
  /** Faults of middlewares that only their maintainers can mend. */
  readonly upstream: readonly string[];
};

export const EXPLANATIONS: Readonly<Record<TrialId, TrialExplanation>> = {
  T1: {
    why: 'A buyer with an official client pays, and gets what was sold with a proof of the settlement. Without that nothing is earned.',
    fix: 'Verify, run the handler, settle, then answer 2xx with PAYMENT-RESPONSE: success, transaction, network and payer as the facilitator gave them.',
    upstream: [],
  },
  T2: {
    why: 'The payload of version 2 repeats the terms that the buyer accepted. A seller that verifies against those lets each buyer set his own price and recipient.',
    fix: 'Hand your own requirements of this route to the facilitator, never `accepted` of the payload.',
    upstream: [],
  },
  T3: {
    why: 'A facilitator that says isValid: false answers 200. A seller that looks at the error alone delivers for nothing.',
    fix: 'Read isValid of the answer, and answer 402 unless it is true.',
    upstream: ['the Go middleware 2.9.0 reads the error alone (http/server.go)'],
  },
  T4: {
    why: 'Facilitators fail. A seller that opens then gives everything away for as long as it lasts, and anyone can wait for it.',
    fix: 'Answer 402 or 5xx where verify fails, and give up on it after a few seconds.',
    upstream: [],
  },
  T5: {
    why: 'A settlement can be refused after a good verification: the money was spent elsewhere meanwhile.',
    fix: 'Hold the answer back until settle says success: true; else answer 402 without the body.',
    upstream: ['x402-express 0.1.0 ignores a refused settlement'],
  },
  T6: {
    why: 'A settle call that fails may have moved the money. A seller that makes up a proof lies to the buyer, and one that settles again takes twice.',
    fix: 'Answer 5xx within a minute, keep the payment, and look its nonce up before anything is settled or sold again.',
    upstream: [],
  },
  T7: {
    why: 'A payment header can be sent again. It buys once: the same answer may be handed out again, a new one may not.',
    fix: 'Keep used nonces with their answers: send the first answer again, or 402; run the handler after settle, or settle before the answer.',
    upstream: [],
  },
  T8: {
    why: 'Verify moves no money, so ten equal payments at once all pass it. Only the one that settles has paid.',
    fix: 'Claim the nonce by one insert under a unique key before the handler runs, and deliver to the one that settled.',
    upstream: [],
  },
  T9: {
    why: 'A payment for a cheap route carries a good signature. Only its amount says that it is not for the dear one.',
    fix: 'Verify against the requirements of the route that is asked, and bind payments to their resource.',
    upstream: [],
  },
  T10: {
    why: 'An authorization has a time in which the chain takes it. Outside of it nothing can be settled.',
    fix: 'Leave the times to the facilitator, and do what it says; cache no verification.',
    upstream: [],
  },
  T11: {
    why: 'Routers take several spellings for one path. A guard that compares text lets the others through.',
    fix: 'Guard the handler or the router, not a list of paths beside it; let both normalise alike.',
    upstream: [],
  },
  T12: {
    why: 'A header that holds no payment is the most common thing a seller is sent. An answer of 5xx looks like an outage, and one header must not end the process.',
    fix: 'Catch what decoding throws, bound its size and depth, and answer 402.',
    upstream: ['FastAPI and Flask answer a payload of version 1 with 500'],
  },
  T13: {
    why: 'A cache that keeps a paid answer hands it to those who did not pay.',
    fix: 'Send Cache-Control: private, no-store with what was paid for.',
    upstream: [],
  },
  T14: {
    why: 'A buyer who paid for an error asks for his money, and does not come back.',
    fix: 'Settle only after the handler answered below 400.',
    upstream: ['paymentProxy of @x402/next settles after a 503 of the handler'],
  },
};
