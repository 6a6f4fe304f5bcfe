/** A facilitator over HTTP, as sellers and the service in `facilitator` mode talk to one. */
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import express from 'express';
import { type Seller, serve } from './seller.ts';

/** The parts of `x402Facilitator` that are served; each answer is sent as JSON. */
export interface FacilitatorAnswers {
  getSupported(): unknown;
  verify(payload: PaymentPayload, requirements: PaymentRequirements): Promise<unknown>;
  settle(payload: PaymentPayload, requirements: PaymentRequirements): Promise<unknown>;
}

interface PaymentToJudge {
  paymentPayload: PaymentPayload;
  paymentRequirements: PaymentRequirements;
}

/** For sellers that nobody pays: it knows the kinds of payment and refuses each one. */
export const REFUSING: FacilitatorAnswers = {
  getSupported: () => ({
    kinds: [
      { x402Version: 2, scheme: 'exact', network: 'eip155:8453' },
      { x402Version: 1, scheme: 'exact', network: 'base' },
    ],
    extensions: ['bazaar'],
    signers: {},
  }),
  verify: async () => ({ isValid: false, invalidReason: 'invalid_exact_evm_payload_signature' }),
  settle: async (_payload, { network }) => ({
    success: false,
    errorReason: 'invalid_exact_evm_payload_signature',
    transaction: '',
    network,
  }),
};

/** Pass `chainFacilitator(chain)` for one that verifies and settles. */
export function startFacilitatorServer(answers: FacilitatorAnswers = REFUSING): Promise<Seller> {
  const app = express();
  app.use(express.json());
  app.get('/supported', (_request, response) => {
    response.json(answers.getSupported());
  });
  for (const step of ['verify', 'settle'] as const) {
    app.post(`/${step}`, async ({ body }, response) => {
      // As sellers send it; a facilitator looks at every member of it before it believes one.
      const { paymentPayload, paymentRequirements } = body as PaymentToJudge;
      response.json(await answers[step](paymentPayload, paymentRequirements));
    });
  }
  return serve(app);
}
