import type { FacilitatorFault, TestFacilitator } from './facilitator.ts';
import type { Step } from './ledger.ts';
import type { Changes, Example, Payer, Payment, SellerChallenge } from './payer.ts';
import { describeReply, isDelivery } from './replies.ts';
import type { Request, SellerAnswer, SellerClient, SellerReply } from './seller-client.ts';
import type { Timing } from './timing.ts';

export type SellerRoute = {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** JSON; null takes the bazaar example of the challenge, else "{}". */
  readonly body: string | null;
};

export function toRouteName({ method, path }: Pick<SellerRoute, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** The route asks for no payment that can be tried. */
export class NoChallenge extends Error {
  override readonly name = 'NoChallenge';
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

/** An example that was refused is left out. */
const NO_EXAMPLE: Example = { query: [], body: null };
const BAD_INPUT = [400, 422];

type Misbehaviour = {
  readonly step: Step;
  readonly fault: FacilitatorFault;
  readonly timeoutMs?: number;
};

/** Requests one route of the seller, with payments and without. */
export class RouteTester {
  readonly route: SellerRoute;
  readonly facilitator: TestFacilitator;
  readonly timing: Timing;
  readonly #client: SellerClient;
  readonly #payer: Payer;
  #example: Example | null = null;
  #refusedExample: string | null = null;
  #timeouts = 0;
  /** The good payment of T1; null until there is one. */
  first: Payment | null = null;
  /** The answer to the good payment of T1; null until there is one. */
  paid: SellerAnswer | null = null;

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
  get timeouts(): number {
    return this.#timeouts;
  }

  /** The path with the query of the example; parameters that the route names itself keep their values. */
  get path(): string {
    const { method, path } = this.route;
    const own = new URLSearchParams(path.split('?', 2)[1]);
    const added = new URLSearchParams();
    for (const [name, value] of hasBody(method) ? [] : (this.#example?.query ?? [])) {
      if (!own.has(name)) added.append(name, value);
    }
    return added.size === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${added}`;
  }

  /** "GET /weather?city=Bern: 422"; null if the seller takes the example of its challenge. */
  get refusedExample(): string | null {
    return this.#refusedExample;
  }

  /** Leaves the example out from now on, if it was sent and the answer refuses it as bad input. */
  refusesExample(reply: SellerReply): boolean {
    const { method, path, body } = this.route;
    const isSent = hasBody(method)
      ? body === null && (this.#example?.body ?? null) !== null
      : this.path !== path;
    if (!isSent || !reply.ok || !BAD_INPUT.includes(reply.status)) return false;
    this.#refusedExample = `${method} ${this.path}: ${reply.status}`;
    this.#example = NO_EXAMPLE;
    return true;
  }

  /** Requests the route, or a variant of it, without a payment. */
  async ask(changes: Partial<Request> = {}): Promise<SellerReply> {
    const { method } = this.route;
    const path = changes.path ?? this.path;
    const wanted = changes.method ?? method;
    const body = hasBody(wanted) ? (this.route.body ?? this.#example?.body ?? '{}') : undefined;
    const reply = await this.#client.send({ method, body, ...changes, path });
    if (!reply.ok && reply.why === 'silent') this.#timeouts += 1;
    return reply;
  }

  /** Throws NoChallenge. */
  async challenge(): Promise<SellerChallenge> {
    const name = toRouteName(this.route);
    const reply = await this.ask();
    if (!reply.ok) throw new NoChallenge(`${name} gives no answer without a payment`);
    if (this.refusesExample(reply)) return this.challenge();
    const read = this.#payer.read(reply);
    if (typeof read === 'string') throw new NoChallenge(`${name}: ${read}`);
    if (read.example === null || this.#example !== null) return read;
    this.#example = read.example;
    // The price of the example may be another.
    return this.challenge();
  }

  /** Returns the `error` of a refusal's challenge; null without a challenge of this version. */
  readError(reply: SellerReply, version: 1 | 2): string | null {
    if (!reply.ok || reply.status !== 402) return null;
    const required = this.#payer.readChallenge(reply);
    if (required?.x402Version !== version) return null;
    return typeof required.error === 'string' ? required.error : '';
  }

  /** Signs a payment for this route. Throws NoChallenge. */
  async pay(changes: Changes = {}): Promise<Payment> {
    return this.#payer.pay(await this.challenge(), changes);
  }

  async send({ version, nonce, headers }: Payment, timeoutMs?: number): Promise<PaymentAttempt> {
    const reply = await this.ask({ headers, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
    const description = `${describeReply(reply)}, ${this.ledger.describe(nonce)}`;
    return { version, nonce, reply, isDelivered: isDelivery(reply), description };
  }

  /** Signs a payment and sends it. Throws NoChallenge. */
  async attempt(changes: Changes = {}, misbehaviour?: Misbehaviour): Promise<PaymentAttempt> {
    const payment = await this.pay(changes);
    if (misbehaviour !== undefined) {
      const { step, fault } = misbehaviour;
      this.facilitator.misbehave(step, payment.nonce, fault);
    }
    return this.send(payment, misbehaviour?.timeoutMs);
  }
}

function hasBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}
