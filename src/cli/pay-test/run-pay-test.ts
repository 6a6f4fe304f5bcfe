import { setTimeout as pause } from 'node:timers/promises';
import { TestFacilitator } from './facilitator.ts';
import { Payer } from './payer.ts';
import { PayTestImpossible, type PayTestReport, type TrialId } from './result.ts';
import {
  DEFAULT_TIMING,
  RouteTester,
  type SellerRoute,
  type TestParts,
  type Timing,
  toRouteName,
} from './route-tester.ts';
import { resolveOwnAddresses, resolveTarget, SellerClient, type Target } from './seller-client.ts';
import { isListening, SellerProcess } from './seller-process.ts';
import { TrialRun } from './trial-run.ts';

export type PayTestOptions = {
  /** "http://127.0.0.1:3000" */
  readonly target: string;
  /** Shell command that starts the seller; null if somebody else starts it. */
  readonly start: string | null;
  /** If empty, `findRoutes` finds the routes. */
  readonly routes: readonly SellerRoute[];
  /** A paid route whose handler fails, for T14. */
  readonly failingRoute: SellerRoute | null;
  readonly facilitatorHost: string;
  /** 0 takes any free port. */
  readonly facilitatorPort: number;
  /** Environment variables of the seller that get the URL of the facilitator. */
  readonly variables: readonly string[];
  /** Variables of our own environment that the seller does not get. Default: none. */
  readonly withheldVariables?: readonly string[];
  /** Networks to support in addition to the known ones. */
  readonly networks: readonly string[];
  /** The trials to report; null for all. */
  readonly only: readonly TrialId[] | null;
  readonly timing?: Partial<Timing>;
  /** Finds the paid routes by a scan. */
  readonly findRoutes: (target: Target) => Promise<readonly SellerRoute[]>;
  /** Prints progress for a person. */
  readonly say: (line: string) => void;
  /** Stops everything that the run started. The run then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
};

/** Pause between two scans of a seller that listens, but has no paid route yet. */
const FIND_AGAIN_MS = 2_000;
const POLL_LISTENER_MS = 200;

type Closable = { close(): Promise<void> };

/** Throws PayTestImpossible if the seller cannot be tested. Settles only after all that it opened is closed. */
export async function runPayTest(options: PayTestOptions): Promise<PayTestReport> {
  const closables: Closable[] = [];
  const work = startAndRun(options, closables);
  try {
    return await (options.signal === undefined ? work : raceWithAbort(work, options.signal));
  } finally {
    for (const closable of closables.reverse()) await closable.close();
    // After an abort the work fails soon, because its next step needs something closed, or asks the signal.
    await work.catch(() => undefined);
  }
}

/** Leaves what was opened to the end of the run. After an abort, closes it at once and throws the signal's reason. */
async function keepOpen(
  closable: Closable,
  closables: Closable[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted) await closable.close();
  signal?.throwIfAborted();
  closables.push(closable);
}

async function raceWithAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function startAndRun(options: PayTestOptions, closables: Closable[]): Promise<PayTestReport> {
  const { facilitatorHost: host, facilitatorPort: port, networks, start, say, signal } = options;
  const timing = { ...DEFAULT_TIMING, ...options.timing };
  const target = await resolveTarget(options.target);
  // Throws if the facilitator would listen on a public address.
  await resolveOwnAddresses(host.replace(/^\[|\]$/g, ''));
  const facilitator = new TestFacilitator({ host, port, networks, silenceMs: timing.silenceMs });
  await facilitator.listen();
  await keepOpen(facilitator, closables, signal);
  const client = new SellerClient(target, timing.answerMs);
  await keepOpen(client, closables, signal);

  const { variables, withheldVariables = [], failingRoute } = options;
  const { url: facilitatorUrl } = facilitator;
  const seller =
    start === null
      ? null
      : new SellerProcess({ command: start, variables, withheldVariables, facilitatorUrl });
  if (seller === null) {
    say('Let the seller ask the facilitator (FACILITATOR_URL) at');
    say(facilitatorUrl);
  } else {
    await keepOpen(seller, closables, signal);
    await seller.start(target, timing.startMs);
  }
  const payer = new Payer();
  await payer.warmUp();
  const parts = { client, facilitator, payer, timing };
  const routes = await findRoutesToPay(options, target, parts, seller);
  const trialRun = new TrialRun({
    target,
    parts,
    seller,
    testers: routes.map((route) => new RouteTester(route, parts)),
    areRoutesNamed: options.routes.length > 0,
    failingTester: failingRoute === null ? null : new RouteTester(failingRoute, parts),
    only: options.only,
    say,
  });
  return trialRun.run();
}

/** Throws PayTestImpossible if the seller does not answer, or if the options name no route and the scans find none. */
async function findRoutesToPay(
  options: PayTestOptions,
  target: Target,
  parts: TestParts,
  seller: SellerProcess | null,
): Promise<readonly SellerRoute[]> {
  const deadline = performance.now() + parts.timing.startMs;
  for (;;) {
    const isUp = await isListening(target);
    const routes = isUp ? await findRoutesOnce(options, target, parts) : [];
    if (routes.length > 0) return routes;
    // A seller gets no routes after its start. It has started if it listens after `--start`, or asked for /supported.
    const hasStarted = isUp && (seller !== null || parts.facilitator.supportedCallCount > 0);
    if (hasStarted || performance.now() > deadline) {
      throw new PayTestImpossible(
        isUp
          ? `${target.origin}: no route asks for a payment; name one by --route "GET /path"`
          : `${target.origin} does not listen: start it, or use --start`,
      );
    }
    await pause(isUp ? FIND_AGAIN_MS : POLL_LISTENER_MS, undefined, { signal: options.signal });
  }
}

/** Begins with one request, because a scan of a seller that is silent would take long and find nothing. */
async function findRoutesOnce(
  { routes, failingRoute, findRoutes }: PayTestOptions,
  target: Target,
  parts: TestParts,
): Promise<readonly SellerRoute[]> {
  const [firstRoute] = routes;
  const tester = new RouteTester(firstRoute ?? { method: 'GET', path: '/', body: null }, parts);
  const reply = await tester.request();
  if (!reply.ok && reply.why === 'silent') {
    throw new PayTestImpossible(
      `${target.origin} accepts connections, but does not answer ${toRouteName(tester.route)} within ${parts.timing.answerMs / 1_000} s`,
    );
  }
  if (firstRoute !== undefined) return reply.ok ? routes : [];
  const sellerRoutes = await findRoutes(target);
  return sellerRoutes.filter(
    (route) => failingRoute === null || toRouteName(route) !== toRouteName(failingRoute),
  );
}
