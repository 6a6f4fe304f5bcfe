import type { Store } from '../store/contract/store.ts';
import { type ChainEvidence, createChainEvidence } from './chain-evidence.ts';
import type { PaymentTerms } from './challenge.ts';
import { challengeFor, MAX_REFUSAL_LENGTH, offerOf, PaymentRefused } from './challenge.ts';
import type { Facilitator } from './facilitator.ts';
import { type Failpoints, NO_FAILPOINTS } from './failpoints.ts';
import { PaymentGate } from './gate.ts';
import { type PaidRoute, routeNameOf } from './paid-route.ts';
import type { PublishByRoute } from './publisher.ts';
import { FacilitatorReadiness } from './readiness.ts';
import { Reconciler, type ReconcileTiming } from './reconciler.ts';
import { Recovery } from './recovery.ts';

export interface PaymentsOptions {
  readonly store: Store;
  readonly terms: PaymentTerms;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly facilitator: Facilitator;
  /** Where settlements can be looked up; null without one, and it is not asked in mock mode. */
  readonly rpcUrl: string | null;
  readonly routes: readonly PaidRoute[];
  readonly isRateLimited: boolean;
  readonly failpoints?: Failpoints | undefined;
  readonly onTrouble: (message: string, error: unknown) => void;
  readonly reconcileWithinMs?: number | undefined;
  readonly retryWithinMs?: number | undefined;
  readonly reconcileTiming?: Partial<ReconcileTiming> | undefined;
  readonly sweepIntervalMs?: number | undefined;
  readonly readinessRetryMs?: number | undefined;
  /** How long the start waits for the facilitator. */
  readonly startWithinMs?: number | undefined;
}

/** Everything that takes payments, wired. */
export interface Payments {
  readonly gate: PaymentGate;
  readonly recovery: Recovery;
  /** Real money, or nothing at all: as `/health` says it. */
  readonly mode: 'live' | 'mock';
  /** Throws `UnsupportedByFacilitator`; a facilitator that does not answer is asked again later. */
  start(): Promise<void>;
  /** Settles nothing that is not under way, and waits for what is. */
  stop(): Promise<void>;
}

export function createPayments(options: PaymentsOptions): Payments {
  const { store, terms, baseUrl, facilitator, routes, onTrouble } = options;
  checkChallenges(options);
  const publish = publishByRoute(routes);
  const byName = new Map(routes.map((route) => [route.name, route]));
  const reconciler = new Reconciler({
    facilitator,
    evidence: evidenceFor(options),
    now: () => store.now(),
    offerOf(request) {
      const route = byName.get(routeNameOf(request));
      return route === undefined ? null : offerOf(route, terms, baseUrl);
    },
    ledger: store.ledger,
    publish,
    onTrouble,
    timing: options.reconcileTiming,
  });
  const readiness = new FacilitatorReadiness({
    facilitator,
    network: terms.network,
    retryIntervalMs: options.readinessRetryMs,
    startWithinMs: options.startWithinMs,
    onTrouble: (error) => onTrouble('payments cannot be taken yet', error),
  });
  const gate = new PaymentGate({
    ...options,
    reconciler,
    publish,
    isReady: () => readiness.isReached,
    failpoints: options.failpoints ?? NO_FAILPOINTS,
  });
  const recovery = new Recovery({
    store,
    reconciler,
    publish,
    isInFlight: (key) => gate.isInFlight(key),
    onTrouble,
    sweepIntervalMs: options.sweepIntervalMs,
  });
  return {
    gate,
    recovery,
    mode: facilitator.kind === 'mock' ? 'mock' : 'live',
    async start() {
      await readiness.start();
      recovery.start();
    },
    async stop() {
      readiness.stop();
      // Side by side: a call that waits for its settlement's outcome need not wait any longer.
      await Promise.all([gate.close(), recovery.stop(), reconciler.stop()]);
    },
  };
}

function evidenceFor({ facilitator, rpcUrl }: PaymentsOptions): ChainEvidence | null {
  // What is settled by the mock is on no chain.
  if (facilitator.kind === 'mock' || rpcUrl === null) return null;
  return createChainEvidence(rpcUrl);
}

function publishByRoute(routes: readonly PaidRoute[]): PublishByRoute {
  return new Map(
    routes.map((route) => [route.name, async (scanId: string) => route.publish?.(scanId)]),
  );
}

/** At the start rather than at the first caller: throws where a challenge would be too long. */
function checkChallenges({ routes, terms, baseUrl }: PaymentsOptions): void {
  const longest = new PaymentRefused('authorization_expired', 'x'.repeat(MAX_REFUSAL_LENGTH));
  for (const route of routes) challengeFor(offerOf(route, terms, baseUrl), longest);
}
