import type { Fault, TestFacilitator } from './facilitator.ts';
import type { Step } from './ledger.ts';
import type { Challenge, Changes, Payer, Payment } from './payer.ts';
import { describeReply, isDelivery } from './replies.ts';
import type { Answer, Reply, Request, SellerClient } from './seller-client.ts';
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
export type Attempt = {
  readonly version: 1 | 2;
  readonly nonce: string;
  readonly reply: Reply;
  readonly isDelivered: boolean;
  /** "200, asked verify once, settle once" */
  readonly seen: string;
};

type Misbehaviour = { readonly step: Step; readonly fault: Fault; readonly timeoutMs?: number };

/** Requests one route of the seller, with payments and without. */
export class RouteTester {
  readonly route: SellerRoute;
  readonly facilitator: TestFacilitator;
  readonly timing: Timing;
  readonly #client: SellerClient;
  readonly #payer: Payer;
  #example = '{}';
  #timeouts = 0;
  /** The answer to the good payment of T1; null until there is one. */
  paid: Answer | null = null;

  constructor(route: SellerRoute, { client, facilitator, payer, timing }: TestParts) {
    this.route = route;
    this.facilitator = facilitator;
    this.timing = timing;
    this.#client = client;
    this.#payer = payer;
  }

  get ledger() {
    return this.facilitator.ledger;
  }

  /** Number of requests that were not answered in time. */
  get timeouts(): number {
    return this.#timeouts;
  }

  /** Requests the route, or a variant of it, without a payment. */
  async ask(changes: Partial<Request> = {}): Promise<Reply> {
    const { method, path } = this.route;
    const wanted = changes.method ?? method;
    const body = hasBody(wanted) ? (this.route.body ?? this.#example) : undefined;
    const reply = await this.#client.send({ method, path, body, ...changes });
    if (!reply.ok && reply.why === 'silent') this.#timeouts += 1;
    return reply;
  }

  /** Throws NoChallenge. */
  async challenge(): Promise<Challenge> {
    const name = toRouteName(this.route);
    const reply = await this.ask();
    if (!reply.ok) throw new NoChallenge(`${name} gives no answer without a payment`);
    const read = this.#payer.read(reply);
    if (typeof read === 'string') throw new NoChallenge(`${name}: ${read}`);
    if (read.example !== null) this.#example = read.example;
    return read;
  }

  /** Signs a payment for this route. Throws NoChallenge. */
  async pay(changes: Changes = {}): Promise<Payment> {
    return this.#payer.pay(await this.challenge(), changes);
  }

  async send({ version, nonce, headers }: Payment, timeoutMs?: number): Promise<Attempt> {
    const reply = await this.ask({ headers, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
    const seen = `${describeReply(reply)}, ${this.ledger.describe(nonce)}`;
    return { version, nonce, reply, isDelivered: isDelivery(reply), seen };
  }

  /** Signs a payment and sends it. Throws NoChallenge. */
  async attempt(changes: Changes = {}, misbehaviour?: Misbehaviour): Promise<Attempt> {
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
