/** The message that a facilitator gets: the signed fields and our own terms, nothing else of the client's. */
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import type { FacilitatorRequest } from './facilitator.ts';

export type FacilitatorMessage = {
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
};

/**
 * A payment in the words of the protocol, version 2, whichever version it came in. Terms, resource
 * and extensions are our own: what the client echoed of them is not looked at, and not passed on.
 */
export function facilitatorMessage({ payment, offer }: FacilitatorRequest): FacilitatorMessage {
  const { from, to, value, validAfter, validBefore, nonce } = payment.authorization;
  const requirements = { ...payment.requirements, extra: { ...payment.requirements.extra } };
  return {
    requirements,
    payload: {
      x402Version: 2,
      accepted: requirements,
      payload: {
        signature: payment.signature,
        authorization: {
          from,
          to,
          value: `${value}`,
          validAfter: `${validAfter}`,
          validBefore: `${validBefore}`,
          nonce,
        },
      },
      ...(offer === null ? {} : { resource: offer.resource, extensions: offer.extensions }),
    },
  };
}
