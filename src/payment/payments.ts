import type { AnswerReader } from '../answers/answer-reader.ts';
import type { Store } from '../store/store.ts';
import type { ChainEvidence } from './chain/chain-evidence.ts';
import { createNodeRequests, type NodeRequests } from './chain/node-requests.ts';
import { MAX_REFUSAL_LENGTH, PaymentRefused } from './gate/answers.ts';
import { createChallenge } from './gate/challenge.ts';
import { PaymentGate } from './gate/gate.ts';
import type { GateDeps } from './gate/purchase.ts';
import type { PublishByRoute } from './ledger/ledger.ts';
import type { ReconcileTiming } from './ledger/reconcile.ts';
import { Reconciler } from './ledger/reconciler.ts';
import { Recovery } from './ledger/recovery.ts';
import { type PaidRoute, parseRouteName } from './paid-route.ts';
import {
  type Facilitator,
  type OnPaymentEvent,
  withChainProof,
  withMetrics,
  withRevertLimit,
} from './settle/facilitator.ts';
import { PaymentsReadiness } from './settle/readiness.ts';
import { type PaymentTerms, toRouteOffer } from './terms.ts';

export type PaymentsOptions = {
  readonly store: Store;
  readonly terms: PaymentTerms;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly facilitator: Facilitator;
  /** Node for look-ups of settlements; null without one. It is not asked in mock mode. */
  readonly rpcUrl: string | null;
  readonly routes: readonly PaidRoute[];
  readonly isRateLimited: boolean;
  /** Reason that nothing can be delivered, so that no paid route may take a payment; null while it can. */
  readonly findFault?: (() => string | null) | undefined;
  readonly onError: (message: string, error: unknown) => void;
  /** Reports events for metrics and the log. */
  readonly onEvent?: OnPaymentEvent | undefined;
  /** Timeout of a request to the node; default 5 s. */
  readonly rpcTimeoutMs?: number | undefined;
  /** Wait for the node to have the receipt of a facilitator's success; default 5 s. */
  readonly receiptWithinMs?: number | undefined;
  /** Default: one of its own. */
  readonly answers?: AnswerReader | undefined;
  /** One factor in place of these times would not do: tests let one of them end before the others. */
  readonly reconcileWithinMs?: number | undefined;
  readonly retryWithinMs?: number | undefined;
  readonly turnWithinMs?: number | undefined;
  readonly reconcileTiming?: Partial<ReconcileTiming> | undefined;
  readonly sweepIntervalMs?: number | undefined;
  readonly readinessRetryMs?: number | undefined;
  /** Wait of the start for the facilitator. */
  readonly startWithinMs?: number | undefined;
};

/** Payments of a service, from start to stop. */
export type Payments = ReturnType<typeof createPayments>;

export function createPayments(options: PaymentsOptions) {
  const { store, terms, baseUrl, routes, onError, onEvent = () => undefined } = options;
  checkChallenges(options);
  const node = nodeFor(options);
  const evidence = node === null ? null : evidenceOf(node);
  const facilitator = withMetrics(withSettlementChecks(evidence, options), onEvent);
  const publish = publishByRoute(routes);
  const byName = new Map(routes.map((route) => [route.name, route]));
  const reconciler = new Reconciler({
    facilitator,
    evidence,
    now: () => store.now(),
    findOffer(request) {
      const route = byName.get(parseRouteName(request));
      return route === undefined ? null : toRouteOffer(route, terms, baseUrl);
    },
    ledger: store.ledger,
    publish,
    onError,
    onEvent,
    timing: options.reconcileTiming,
  });
  const readiness = new PaymentsReadiness({
    facilitator,
    node,
    terms,
    findFault: options.findFault,
    retryIntervalMs: options.readinessRetryMs,
    startWithinMs: options.startWithinMs,
    onError,
  });
  const gate = new PaymentGate({
    ...options,
    facilitator,
    reconciler,
    publish,
    isContract: contractsOn(node),
    isReady: () => readiness.isReady,
  });
  const recovery = new Recovery({
    store,
    reconciler,
    publish,
    isInFlight: (key) => gate.isInFlight(key),
    onError,
    sweepIntervalMs: options.sweepIntervalMs,
  });
  return {
    gate,
    recovery,
    facilitator,
    /** Reason that nothing can be settled now; null while it can. */
    unreadyReason: () => readiness.unreadyReason(),
    /** Throws `UnsupportedByFacilitator` or `WrongNode`; retries later if one does not answer. */
    async start() {
      await readiness.start();
      recovery.start();
    },
    /** Starts no settlement, and waits for those under way. */
    async stop() {
      readiness.stop();
      // Side by side: a call that waits for its settlement's outcome need not wait any longer.
      await Promise.all([gate.close(), recovery.stop(), reconciler.stop()]);
      await facilitator.stop?.();
    },
  };
}

/** Successes of `remote` are checked against receipts; `local` reads receipts itself and pays the gas. */
function withSettlementChecks(
  evidence: ChainEvidence | null,
  { facilitator, store, receiptWithinMs }: PaymentsOptions,
): Facilitator {
  switch (facilitator.kind) {
    case 'mock':
      return facilitator;
    case 'local':
      return withRevertLimit(facilitator, store);
    case 'remote':
      return evidence === null
        ? facilitator
        : withChainProof(facilitator, evidence, receiptWithinMs);
  }
}

/** Loads the reader of the chain with the first look-up: most instances never need one. */
function evidenceOf(node: NodeRequests): ChainEvidence {
  let opened: Promise<ChainEvidence> | null = null;
  const evidence = () => {
    opened ??= import('./chain/chain-evidence.ts').then((chain) => chain.createChainEvidence(node));
    return opened;
  };
  return {
    lookUp: async (payment, known) => (await evidence()).lookUp(payment, known),
    prove: async (payment, transaction) => (await evidence()).prove(payment, transaction),
  };
}

/** Null for the mock, whose settlements are on no chain. */
function nodeFor({
  facilitator,
  rpcUrl,
  rpcTimeoutMs,
  onEvent,
  answers,
}: PaymentsOptions): NodeRequests | null {
  if (facilitator.kind === 'mock' || rpcUrl === null) return null;
  return createNodeRequests({
    rpcUrl,
    timeoutMs: rpcTimeoutMs,
    answers,
    onCall: (call) => onEvent?.({ kind: 'node_call', ...call }),
  });
}

function contractsOn(node: NodeRequests | null): GateDeps['isContract'] {
  if (node === null) return async () => null;
  return (address) =>
    node.request({ method: 'eth_getCode', params: [address, 'latest'] }).then(
      (code) => (typeof code === 'string' ? code !== '0x' : null),
      () => null,
    );
}

function publishByRoute(routes: readonly PaidRoute[]): PublishByRoute {
  return new Map(
    routes.map((route) => [route.name, async (scanId: string) => route.publish?.(scanId)]),
  );
}

/** Throws at the start if a challenge would be too long, before a caller sees it. */
function checkChallenges({ routes, terms, baseUrl }: PaymentsOptions): void {
  const longest = new PaymentRefused('authorization_expired', 'x'.repeat(MAX_REFUSAL_LENGTH));
  for (const route of routes) createChallenge(toRouteOffer(route, terms, baseUrl), longest);
}
