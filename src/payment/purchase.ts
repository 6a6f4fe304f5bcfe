/** One purchase, and what the gate gives it to work with. */
import type { IdentifierScope } from '../store/contract/identifiers.ts';
import type { Store } from '../store/contract/store.ts';
import type { PaymentTerms, RouteOffer } from './challenge.ts';
import type { Facilitator } from './facilitator.ts';
import type { Failpoints } from './failpoints.ts';
import type { PaidCall, PaidRoute } from './paid-route.ts';
import type { SignedPayment } from './payment-header.ts';
import type { PublishByRoute } from './publisher.ts';
import type { Reconciler } from './reconciler.ts';

/** One paid request, decoded and signed for. */
export interface Purchase<Input = unknown> {
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

/** What the gate stands on. */
export interface GateOptions {
  readonly store: Store;
  readonly terms: PaymentTerms;
  /** Without a trailing slash; every URL that a challenge names begins with it. */
  readonly baseUrl: string;
  readonly facilitator: Facilitator;
  readonly reconciler: Reconciler;
  readonly publish: PublishByRoute;
  /** Whether the facilitator was reached. */
  readonly isReady: () => boolean;
  /** Off: payers may leave any number of finished scans unpaid. */
  readonly isRateLimited: boolean;
  readonly failpoints: Failpoints;
  /** How long a call waits for the outcome of its own settlement; default 20 s. */
  readonly reconcileWithinMs?: number | undefined;
  /** How long a later call waits for it; default 5 s. */
  readonly retryWithinMs?: number | undefined;
  /** Told of trouble that no caller meets. */
  readonly onTrouble: (message: string, error: unknown) => void;
}

export const RECONCILE_WITHIN_MS = 20_000;
export const RETRY_WITHIN_MS = 5_000;
