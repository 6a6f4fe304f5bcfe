import type { AnswerReader } from '../../scanner/third-parties/answer-reader.ts';
import type { ChainEvidence } from './chain/chain-evidence.ts';
import { createNodeRequests, type NodeRequests } from './chain/node-requests.ts';
import { createChallenge } from './gate/challenge.ts';
import { PaymentGate } from './gate/gate.ts';
import type { GateDeps } from './gate/purchase.ts';
import { MAX_REFUSAL_LENGTH, PaymentRefused } from './gate/refusals.ts';
import type { PublishScan } from './ledger/ledger-writer.ts';
import { Reconciler } from './ledger/reconciler.ts';
import { Recovery } from './ledger/recovery.ts';
import { type PaidRoute, parseRouteName } from './paid-route.ts';
import type { Facilitator } from './settle/facilitator.ts';
import { withChainProof, withMetrics, withRevertLimit } from './settle/facilitator.ts';
import { PaymentsReadiness, type ReadinessOptions } from './settle/readiness.ts';
import { toRouteOffer } from './terms.ts';

export type PaymentsOptions = Omit<
  GateDeps,
  'reconciler' | 'isContract' | 'publish' | 'isReady'
> & {
  /** URL of the node that shows how settlements ended; null without a node. Mock mode does not use it. */
  readonly rpcUrl: string | null;
  readonly routes: readonly PaidRoute[];
  readonly findFault?: ReadinessOptions['findFault'];
  /** By default, the node gets its own reader. */
  readonly answers?: AnswerReader | undefined;
};

/** All parts of payments in one service. */
export type Payments = ReturnType<typeof createPayments>;

export function createPayments(options: PaymentsOptions) {
  const { store, terms, baseUrl, routes, timing, onEvent = () => undefined } = options;
  requireShortChallenges(options);
  const node = createNode(options);
  const evidence = node === null ? null : createLazyEvidence(node);
  const facilitator = withMetrics(withSettlementChecks(evidence, options), onEvent);
  const routesByName = new Map(routes.map((route) => [route.name, route]));
  const findRoute = (request: string) => routesByName.get(parseRouteName(request));
  const publish: PublishScan = async (request, scanId) => findRoute(request)?.publish?.(scanId);
  const reconciler = new Reconciler({
    ...options,
    facilitator,
    evidence,
    now: () => store.now(),
    findOffer(request) {
      const route = findRoute(request);
      return route === undefined ? null : toRouteOffer(route, terms, baseUrl);
    },
    ledger: store.ledger,
    publish,
  });
  const readiness = new PaymentsReadiness({ ...options, facilitator, node });
  const gate = new PaymentGate({
    ...options,
    facilitator,
    reconciler,
    publish,
    isContract: createContractCheck(node),
    isReady: () => readiness.isReady,
  });
  const recovery = new Recovery({
    ...options,
    reconciler,
    publish,
    isInFlight: gate.isInFlight,
    sweepIntervalMs: timing.sweepIntervalMs,
  });
  return {
    gate,
    recovery,
    facilitator,
    /** Reason why no payments are taken now; null while they are taken. */
    unreadyReason: () => readiness.unreadyReason(),
    /** Throws `UnsupportedByFacilitator` or `WrongNode`. Retries later if facilitator or node does not answer. */
    async start() {
      await readiness.start();
      recovery.start();
    },
    /** Stops new settlements, and waits for those that have begun. */
    async stop() {
      readiness.stop();
      // These stop together, because a call may wait for the reconciler, which ends its waits when it stops.
      await Promise.all([gate.close(), recovery.stop(), reconciler.stop()]);
      await facilitator.stop?.();
    },
  };
}

/** The local facilitator reads receipts itself. We pay its gas, so it refuses wallets whose payments revert. */
function withSettlementChecks(
  evidence: ChainEvidence | null,
  { facilitator, store, timing }: PaymentsOptions,
): Facilitator {
  switch (facilitator.kind) {
    case 'mock':
      return facilitator;
    case 'local':
      return withRevertLimit(facilitator, store);
    case 'remote':
      return evidence === null
        ? facilitator
        : withChainProof(facilitator, evidence, timing.receiptWithinMs);
  }
}

/** Loads the module that reads the chain at the first look-up, because most instances never need it. */
function createLazyEvidence(node: NodeRequests): ChainEvidence {
  let loading: Promise<ChainEvidence> | null = null;
  const load = () =>
    (loading ??= import('./chain/chain-evidence.ts').then((chain) =>
      chain.createChainEvidence(node),
    ));
  return {
    lookUp: async (...args) => (await load()).lookUp(...args),
    judgeTransaction: async (...args) => (await load()).judgeTransaction(...args),
  };
}

/** Null without `RPC_URL`, and in mock mode, whose settlements are not on a chain. */
function createNode(options: PaymentsOptions): NodeRequests | null {
  const { facilitator, rpcUrl, timing, onEvent, answers } = options;
  if (facilitator.kind === 'mock' || rpcUrl === null) return null;
  return createNodeRequests({
    rpcUrl,
    timeoutMs: timing.rpcTimeoutMs,
    answers,
    onCall: (call) => onEvent?.({ kind: 'node_call', ...call }),
  });
}

/** The check resolves to null if no node is set, or if the node does not answer. */
function createContractCheck(node: NodeRequests | null): GateDeps['isContract'] {
  if (node === null) return async () => null;
  return (address) =>
    node.request({ method: 'eth_getCode', params: [address, 'latest'] }).then(
      (code) => (typeof code === 'string' ? code !== '0x' : null),
      () => null,
    );
}

/** Throws at the start if a challenge of a route could become too long for its header. */
function requireShortChallenges({ routes, terms, baseUrl }: PaymentsOptions): void {
  // No refusal has a longer code.
  const refusal = new PaymentRefused('authorization_expired', 'x'.repeat(MAX_REFUSAL_LENGTH));
  for (const route of routes) createChallenge(toRouteOffer(route, terms, baseUrl), refusal);
}
