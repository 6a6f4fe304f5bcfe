import { setTimeout as pause } from 'node:timers/promises';
import { TestFacilitator } from './facilitator.ts';
import { Payer } from './payer.ts';
import { PayTestImpossible, type PayTestReport, type TrialId } from './result.ts';
import { RouteTester, type SellerRoute, type TestParts, toRouteName } from './route-tester.ts';
import { SellerClient } from './seller-client.ts';
import { isListening, SellerProcess } from './seller-process.ts';
import { ownAddresses, resolveTarget, type Target } from './target.ts';
import { DEFAULT_TIMING, type Timing } from './timing.ts';
import { runTrials } from './trial-run.ts';

export type PayTestOptions = {
  /** "http://127.0.0.1:3000" */
  readonly target: string;
  /** Shell command that starts the seller; null if somebody else starts it. */
  readonly start: string | null;
  /** Empty for the routes that `findRoutes` finds. */
  readonly routes: readonly SellerRoute[];
  readonly failingRoute: SellerRoute | null;
  readonly facilitatorHost: string;
  /** 0 takes any free port. */
  readonly facilitatorPort: number;
  /** Environment variables that name the facilitator to the seller. */
  readonly variables: readonly string[];
  /** Networks to support in addition to the known ones. */
  readonly networks: readonly string[];
  readonly only: readonly TrialId[] | null;
  readonly timing?: Partial<Timing>;
  /** Finds the paid routes by a scan. */
  readonly findRoutes: (target: Target) => Promise<readonly SellerRoute[]>;
  /** Prints progress for a person. */
  readonly say: (line: string) => void;
  /** Stops everything that the run started; the run rejects with the signal's reason. */
  readonly signal?: AbortSignal;
};

const LOOK_AGAIN_MS = 2_000;
const POLL_MS = 200;

/** Throws PayTestImpossible if there is nothing to judge. */
export async function runPayTest(options: PayTestOptions): Promise<PayTestReport> {
  const undo: Undo = [];
  try {
    const work = perform(options, undo);
    return await (options.signal === undefined ? work : untilAborted(work, options.signal));
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/** Steps that stop what was started, in the order of the starts; run in reverse. */
type Undo = (() => Promise<void>)[];

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, ended]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function perform(options: PayTestOptions, undo: Undo): Promise<PayTestReport> {
  const { facilitatorHost, facilitatorPort, networks, start, say } = options;
  const timing = { ...DEFAULT_TIMING, ...options.timing };
  const target = await resolveTarget(options.target);
  await ownAddresses(facilitatorHost.replace(/^\[|\]$/g, ''));
  const facilitator = new TestFacilitator({
    host: facilitatorHost,
    port: facilitatorPort,
    networks,
    silenceMs: timing.silenceMs,
  });
  await facilitator.listen();
  undo.push(() => facilitator.close());
  const client = new SellerClient(target, timing.answerMs);
  undo.push(() => client.close());

  const seller =
    start === null
      ? null
      : new SellerProcess({
          command: start,
          variables: options.variables,
          facilitatorUrl: facilitator.url,
        });
  if (seller === null) {
    say('Let the seller ask the facilitator (FACILITATOR_URL) at');
    say(facilitator.url);
  } else {
    undo.push(() => seller.close());
    await seller.start(target, timing.startMs);
  }
  const payer = new Payer();
  await payer.warmUp();
  const parts = { client, facilitator, payer, timing };
  const routes = await findRoutesToPay(options, target, parts, seller);
  return await runTrials({
    target,
    parts,
    seller,
    testers: routes.map((route) => new RouteTester(route, parts)),
    failing: options.failingRoute === null ? null : new RouteTester(options.failingRoute, parts),
    only: options.only,
    say,
  });
}

/** Throws PayTestImpossible if no route asks for a payment, or the seller does not answer. */
async function findRoutesToPay(
  options: PayTestOptions,
  target: Target,
  parts: TestParts,
  seller: SellerProcess | null,
): Promise<readonly SellerRoute[]> {
  const until = performance.now() + parts.timing.startMs;
  for (;;) {
    if (await isListening(target)) {
      const routes = await lookForRoutes(options, target, parts);
      if (routes.length > 0) return routes;
      // A seller that listens after `--start`, or has asked for /supported, has finished starting.
      if (seller !== null || parts.facilitator.supportedAsked > 0) break;
    }
    if (performance.now() > until) break;
    await pause(seller === null && (await isListening(target)) ? LOOK_AGAIN_MS : POLL_MS);
  }
  if (!(await isListening(target))) {
    throw new PayTestImpossible(`${target.origin} does not listen: start it, or use --start`);
  }
  throw new PayTestImpossible(
    `${target.origin}: no route asks for a payment; name one by --route "GET /path"`,
  );
}

async function lookForRoutes(
  { routes, failingRoute, findRoutes }: PayTestOptions,
  target: Target,
  parts: TestParts,
): Promise<readonly SellerRoute[]> {
  const [named] = routes;
  const first = new RouteTester(named ?? { method: 'GET', path: '/', body: null }, parts);
  const reply = await first.ask();
  if (!reply.ok && reply.why === 'silent') {
    throw new PayTestImpossible(
      `${target.origin} takes a connection and does not answer ${toRouteName(first.route)} within ${parts.timing.answerMs / 1_000} s`,
    );
  }
  if (named !== undefined) return reply.ok ? routes : [];
  const sellerRoutes = await findRoutes(target);
  return sellerRoutes.filter(
    (route) => failingRoute === null || toRouteName(route) !== toRouteName(failingRoute),
  );
}
