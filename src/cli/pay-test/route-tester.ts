import type { FacilitatorFault, TestFacilitator } from './facilitator.ts';
import type { Step } from './ledger.ts';
import type { Example, Payer, Payment, SellerChallenge, TermChanges } from './payer.ts';
import { describeReply, isDelivery } from './replies.ts';
import { notPaid, type TrialFinding } from './result.ts';
import type { Request, SellerAnswer, SellerClient, SellerReply } from './seller-client.ts';

export type SellerRoute = {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** JSON; null stands for the bazaar example of the challenge, or else for "{}". */
  readonly body: string | null;
};

export function toRouteName({ method, path }: Pick<SellerRoute, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** The route cannot be paid. */
export class NoChallenge extends Error {
  override readonly name = 'NoChallenge';
  /** The answer without a payment; null if there was none. */
  readonly answer: SellerAnswer | null;

  constructor(message: string, answer: SellerAnswer | null) {
    super(message);
    this.answer = answer;
  }

  /** True if the route asks for a payment, although a pay-test cannot pay it. */
  get asksForPayment(): boolean {
    return this.answer?.status === 402;
  }
}

/** Returns the result of `work`; after a NoChallenge, that of `onNoChallenge`. Other errors pass. */
export async function catchNoChallenge<T, U>(
  work: () => Promise<T>,
  onNoChallenge: (error: NoChallenge) => U,
) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NoChallenge) return onNoChallenge(error);
    throw error;
  }
}

/** Runs a trial. If the route cannot be paid, returns the finding of a trial that did not run. */
export async function runOrSkip<Finding extends TrialFinding>(
  trial: () => Promise<Finding>,
): Promise<Finding | TrialFinding> {
  return catchNoChallenge(trial, ({ message }) => notPaid(message));
}

/** Finds out why the route cannot be paid. Resolves to null if it can. */
export async function findObstacle(tester: RouteTester): Promise<NoChallenge | null> {
  return catchNoChallenge(
    () => tester.fetchChallenge().then(() => null),
    (obstacle) => obstacle,
  );
}

export type TestParts = {
  readonly client: SellerClient;
  readonly facilitator: TestFacilitator;
  readonly payer: Payer;
  readonly timing: Timing;
};

/** A payment that was sent to the seller. */
export type PaymentAttempt = {
  readonly version: 1 | 2;
  readonly nonce: string;
  readonly reply: SellerReply;
  readonly isDelivered: boolean;
  /** "200, asked verify once, settle once" */
  readonly description: string;
};

/** Used after the seller has refused its own example. */
const NO_EXAMPLE: Example = { query: [], body: null };
const BAD_INPUT_STATUSES = [400, 422];

/** Requests one route of the seller, with payments and without. */
export class RouteTester {
  readonly route: SellerRoute;
  readonly facilitator: TestFacilitator;
  readonly timing: Timing;
  readonly #client: SellerClient;
  readonly #payer: Payer;
  #example: Example | null = null;
  #refusedExample: string | null = null;
  #timeoutCount = 0;
  /** The good payment of T1; null before T1. */
  firstPayment: Payment | null = null;
  /** The 2xx answer to the good payment of T1; null if there was none. */
  paidAnswer: SellerAnswer | null = null;

  constructor(route: SellerRoute, { client, facilitator, payer, timing }: TestParts) {
    this.route = route;
    this.facilitator = facilitator;
    this.timing = timing;
    this.#client = client;
    this.#payer = payer;
  }

  /** "http://127.0.0.1:3000" */
  get origin(): string {
    return this.#client.origin;
  }

  get ledger() {
    return this.facilitator.ledger;
  }

  /** Number of requests that were not answered in time. */
  get timeoutCount(): number {
    return this.#timeoutCount;
  }

  /** "GET /weather?city=Bern: 422"; null if the seller accepts its own example. */
  get refusedExample(): string | null {
    return this.#refusedExample;
  }

  /** The path of the route, with those parameters of the example that the route does not set itself. */
  get path(): string {
    const { method, path } = this.route;
    const routeParameters = new URLSearchParams(path.split('?', 2)[1]);
    const exampleParameters = new URLSearchParams();
    for (const [name, value] of hasBody(method) ? [] : (this.#example?.query ?? [])) {
      if (!routeParameters.has(name)) exampleParameters.append(name, value);
    }
    return exampleParameters.size === 0
      ? path
      : `${path}${path.includes('?') ? '&' : '?'}${exampleParameters}`;
  }

  /** Returns true if the reply refuses the example as bad input. Later requests then omit the example. */
  dropRefusedExample(reply: SellerReply): boolean {
    const { method, path, body } = this.route;
    const wasSent = hasBody(method)
      ? body === null && (this.#example?.body ?? null) !== null
      : this.path !== path;
    if (!wasSent || !reply.ok || !BAD_INPUT_STATUSES.includes(reply.status)) return false;
    this.#refusedExample = `${method} ${this.path}: ${reply.status}`;
    this.#example = NO_EXAMPLE;
    return true;
  }

  /** Requests the route, or a variant of the request. `changes.headers` may hold a payment. */
  async request(changes: Partial<Request> = {}): Promise<SellerReply> {
    const { method = this.route.method, path = this.path } = changes;
    const body = hasBody(method) ? (this.route.body ?? this.#example?.body ?? '{}') : undefined;
    const reply = await this.#client.send({ body, ...changes, method, path });
    if (!reply.ok && reply.why === 'silent') this.#timeoutCount += 1;
    return reply;
  }

  /** Requests the route without a payment and reads its challenge. Throws NoChallenge. */
  async fetchChallenge(): Promise<SellerChallenge> {
    const name = toRouteName(this.route);
    const reply = await this.request();
    if (!reply.ok) throw new NoChallenge(`${name} gives no answer without a payment`, null);
    if (this.dropRefusedExample(reply)) return this.fetchChallenge();
    if (reply.status !== 402)
      throw new NoChallenge(`${name}: answers ${reply.status} instead of 402`, reply);
    const challenge = await this.#payer.readPayableChallenge(reply);
    if (typeof challenge === 'string') throw new NoChallenge(`${name}: ${challenge}`, reply);
    if (challenge.example === null || this.#example !== null) return challenge;
    this.#example = challenge.example;
    // The price may depend on the example.
    return this.fetchChallenge();
  }

  /** Returns the `error` of a refusal's challenge, '' without one; null if it has no challenge of this version. */
  readError(reply: SellerReply, version: 1 | 2): string | null {
    if (!reply.ok || reply.status !== 402) return null;
    const challenge = this.#payer.readChallenge(reply);
    if (challenge?.x402Version !== version) return null;
    return typeof challenge.error === 'string' ? challenge.error : '';
  }

  /** Signs a payment for this route. Throws NoChallenge. */
  async signPayment(changes: TermChanges = {}): Promise<Payment> {
    const payment = await this.#payer.sign(await this.fetchChallenge(), changes);
    this.ledger.addSignedNonce(payment.nonce);
    return payment;
  }

  async sendPayment(
    { version, nonce, headers }: Payment,
    timeoutMs?: number,
  ): Promise<PaymentAttempt> {
    const reply = await this.request({ headers, ...(timeoutMs !== undefined && { timeoutMs }) });
    const description = `${describeReply(reply)}, ${this.ledger.describeCalls(nonce)}`;
    return { version, nonce, reply, isDelivered: isDelivery(reply), description };
  }

  /** Signs a payment and sends it. Throws NoChallenge. */
  async signAndSend(changes: TermChanges = {}): Promise<PaymentAttempt> {
    return this.sendPayment(await this.signPayment(changes));
  }

  /** Signs and sends a payment for which the facilitator has a fault at one step. Throws NoChallenge. */
  async sendDuringFault(
    step: Step,
    fault: FacilitatorFault,
    timeoutMs?: number,
  ): Promise<PaymentAttempt> {
    const payment = await this.signPayment();
    this.facilitator.misbehave(step, payment.nonce, fault);
    return this.sendPayment(payment, timeoutMs);
  }
}

function hasBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

/** Limits and waits of a pay-test. Our own tests shorten them. */
export const DEFAULT_TIMING = {
  /** Limit for the start of the seller. */
  startMs: 60_000,
  /** A silent facilitator hangs up after this time. */
  silenceMs: 30_000,
  /** A seller's answer that takes longer in T4, T6 or T17 is late. */
  patienceMs: 60_000,
  /** In T8, verify waits this long for all racing requests. */
  raceMs: 500,
  /** Timeout of requests in all other trials. */
  answerMs: 15_000,
};

export type Timing = Readonly<typeof DEFAULT_TIMING>;

/** A client waits a little longer than `patienceMs`, so that it still sees a late answer. */
const TIMEOUT_FACTOR = 1.1;

export function toTimeoutMs({ patienceMs }: Timing): number {
  return Math.round(patienceMs * TIMEOUT_FACTOR);
}
