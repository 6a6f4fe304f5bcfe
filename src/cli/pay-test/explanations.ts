import type { TrialId } from './result.ts';

export type TrialExplanation = {
  /** Says what a failure costs the seller. */
  readonly why: string;
  /** One line that says what to do. */
  readonly fix: string;
  /** Faults of middlewares that only their maintainers can mend; absent if none is known. */
  readonly upstream?: readonly string[];
};

export const EXPLANATIONS: Readonly<Record<TrialId, TrialExplanation>> = {
  T1: {
    why: 'A buyer with an official client pays, and gets the resource with a proof of the settlement. A seller that fails here earns nothing. A route whose path the guard does not match is free for everybody.',
    fix: 'Verify, run the handler, settle, then answer 2xx with PAYMENT-RESPONSE: success, transaction, network and payer as the facilitator gave them. Accept the example that your own bazaar extension declares.',
  },
  T2: {
    why: 'The payload of version 2 repeats the terms that the buyer accepted. A seller that verifies against these terms lets each buyer set the price and the recipient.',
    fix: 'Hand your own requirements of this route to the facilitator, never the member `accepted` of the payload.',
  },
  T3: {
    why: 'A facilitator answers 200 with isValid: false for a bad payment. A seller that checks only for an error delivers for nothing.',
    fix: 'Read isValid of the answer, and answer 402 unless it is true.',
    upstream: [
      'the Go middleware 2.9.0 discards the result of verify (mended by x402 pull request 2476)',
    ],
  },
  T4: {
    why: 'Facilitators have outages. A seller that delivers during an outage gives everything away until it ends.',
    fix: 'Answer 402 or 5xx when verify fails, and stop waiting for it after a few seconds.',
  },
  T5: {
    why: 'A settlement can be refused after a good verification, because the money was spent elsewhere in between.',
    fix: 'Send the answer only after settle says success: true; otherwise answer 402 without the body, and without a preview of it.',
    upstream: ['x402-express 0.1.0 ignores a refused settlement'],
  },
  T6: {
    why: 'A settle call that fails may have moved the money. A seller that makes up a proof deceives the buyer, and a seller that settles again may charge twice.',
    fix: 'Answer 5xx within a minute, store the payment, and look up its nonce before you settle or sell again.',
  },
  T7: {
    why: 'A buyer can send the same payment header again. A seller may repeat the first answer, but must not produce a new one.',
    fix: 'Store used nonces with their answers. To a used nonce, send the first answer again, or 402. Deliver only after settle.',
  },
  T8: {
    why: 'Verify moves no money, so ten requests with the same payment all pass it. Only the request that settles has paid.',
    fix: 'Claim the nonce by one insert under a unique key before the handler runs, and deliver only to the request that settled.',
  },
  T9: {
    why: 'A payment for a cheap route has a good signature. Only its amount shows that it does not pay for a dearer route.',
    fix: 'Verify against the requirements of the requested route, and bind payments to their resource.',
  },
  T10: {
    why: 'An authorization is valid only between validAfter and validBefore. Outside of these times it cannot be settled.',
    fix: 'Let the facilitator check the times, obey its answer, and cache no verification.',
  },
  T11: {
    why: 'Routers accept several spellings of one path. A guard that compares text lets the other spellings through.',
    fix: 'Guard the handler or the router instead of a separate list of paths, and normalise paths the same way in both. If only HEAD is found, guard HEAD as you guard GET (explain P5).',
    upstream: [
      'the absolute form of a request target passed the guard of Fastify (x402 issue 3577)',
      'a line end (%0A) passed wildcard routes in TypeScript, Go and Python (x402 pull requests 3036, 3044, 3055)',
      'a lone % passed the guard of Hono (x402 pull request 967), a backslash passed other guards (318)',
      'a body that is not JSON passed the guard of an agent framework in Python (Bindu pull request 519)',
    ],
  },
  T12: {
    why: 'Sellers get many headers that hold no payment. A 5xx looks like an outage, and a bad header must not end the process.',
    fix: 'Catch errors of decoding, limit size and depth of the header, and answer 402.',
    upstream: ['FastAPI and Flask answer a payload of version 1 with 500 (x402 issue 800)'],
  },
  T13: {
    why: 'A shared cache that stores a paid answer gives it to callers who did not pay.',
    fix: 'Send Cache-Control: private, no-store with paid answers.',
  },
  T14: {
    why: 'A buyer who paid for an error wants the money back, and does not return.',
    fix: 'Settle only after the handler answered below 400.',
    upstream: [
      'paymentProxy of @x402/next settles before the handler runs (x402 issue 644; use withX402)',
    ],
  },
  T15: {
    why: 'An index such as the Bazaar lists what the facilitator receives: paymentPayload.resource and paymentPayload.extensions.bazaar. A seller that drops one of the two settles well, but is never listed. A buyer can drop them too.',
    fix: 'Hand the whole decoded payment payload to verify and settle, with resource and extensions as the buyer sent them.',
    upstream: [
      'middlewares dropped them before verify or settle (x402 issues 2691, 2156 and 3284)',
    ],
  },
  T16: {
    why: 'A buyer that gets no reason sends the same payment again and again.',
    fix: 'Answer 402 with a challenge whose error is the invalidReason of verify.',
    upstream: ['middlewares refused without a reason (x402 issues 1677, 804, 1860, 3148 and 3420)'],
  },
  T17: {
    why: 'settlement_pending with a transaction is neither success nor refusal, because the money may still arrive. A seller that asks for a new payment may charge twice. A seller that delivers may not be paid.',
    fix: 'Settle the same payload on the same terms once more. If it stays pending, answer 402 without the body, with errorReason and transaction in PAYMENT-RESPONSE.',
    upstream: [
      '@x402/core and the Go module settle once more since 2.24.0, x402 for Python since 2.21.0 (x402 pull request 3214)',
    ],
  },
  T18: {
    why: 'EXTENSION-RESPONSES is what the facilitator tells the seller. The specification (section 7.2.1) keeps it from the buyer.',
    fix: 'Copy only settlement members into PAYMENT-RESPONSE, and forward no header of the facilitator.',
    upstream: [
      'drafts for TypeScript and Go merged it into the settlement header (x402 pull requests 3278 and 3301; 3306 keeps it apart)',
    ],
  },
};

const MIDDLEWARE_PATHS =
  'In the routes of the x402 middleware a parameter is [id], and * also matches slashes. It takes';

/** The path notation of the payment guard of each stack, for T1: a guard that matches no path gives the route away. */
const PATH_NOTATIONS: Readonly<Record<string, string>> = {
  express: `${MIDDLEWARE_PATHS} {id} and /path{/:id} of Express as plain text, which matches nothing.`,
  hono: `${MIDDLEWARE_PATHS} :id{[0-9]+} of Hono as plain text, which matches nothing.`,
  next: `${MIDDLEWARE_PATHS} [...id] as one segment: write * for the rest of a path. withX402 needs no path.`,
  fastapi: `${MIDDLEWARE_PATHS} {id} of FastAPI as plain text, which matches nothing.`,
  flask: `${MIDDLEWARE_PATHS} <id> of Flask as plain text, which matches nothing.`,
  go: 'In some Go libraries * stops at a slash: guard the router group, or name each path.',
};

/** The fix of a trial; for T1, with the notation of paths in the stack. */
export function describeFix(id: TrialId, stack: string): string {
  const notation = id === 'T1' ? (PATH_NOTATIONS[stack] ?? '') : '';
  return [EXPLANATIONS[id].fix, notation].filter((part) => part !== '').join(' ');
}
