import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import type { FacilitatorRequest } from './facilitator.ts';

export type FacilitatorMessage = {
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
};

/**
 * Writes a payment as version 2, even where it came as version 1. Terms, resource and extensions are our
 * own; those that the client sent back are neither read nor passed on.
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
