import type { IdentifierScope } from '../store/contract/identifiers.ts';
import type { RouteOffer } from './challenge.ts';
import type { PaidCall } from './paid-call.ts';
import type { PaidRoute } from './paid-route.ts';
import type { SignedPayment } from './signed-payment.ts';

/** One paid request, decoded and signed for. */
export interface PaidWork<Input = unknown> {
  readonly route: PaidRoute<Input>;
  readonly input: Input;
  readonly call: PaidCall;
  readonly payment: SignedPayment;
  readonly offer: RouteOffer;
  readonly key: string;
  /** Lower case. */
  readonly payer: string;
  /** Route and canonical input, as the ledger knows them. */
  readonly request: string;
  /** The payment identifier, where the payload carries one. */
  readonly scope: IdentifierScope | null;
}
