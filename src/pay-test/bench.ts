import type { TestFacilitator } from './facilitator.ts';
import type { Challenge, Changes, Payer, Payment } from './payer.ts';
import type { Answer, Reply, Request, SellerClient } from './seller-client.ts';
import type { Timing } from './timing.ts';

/** A paid route as a scan found it, or as `--route` names it. */
export type SellerRoute = {
  readonly method: string;
  /** As it is requested, query included. */
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

export type BenchParts = {
  readonly client: SellerClient;
  readonly facilitator: TestFacilitator;
  readonly payer: Payer;
  readonly timing: Timing;
};

/** A route under trial: it is asked, paid for, and its facilitator misbehaves. */
export class Bench {
  readonly route: SellerRoute;
  readonly facilitator: TestFacilitator;
  readonly timing: Timing;
  readonly #client: SellerClient;
  readonly #payer: Payer;
  #silences = 0;
  /** The answer to the good payment of T1; null until there is one. */
  paid: Answer | null = null;

  constructor(route: SellerRoute, { client, facilitator, payer, timing }: BenchParts) {
    this.route = route;
    this.facilitator = facilitator;
    this.timing = timing;
    this.#client = client;
    this.#payer = payer;
  }

  get ledger() {
    return this.facilitator.ledger;
  }

  /** Requests that nobody answered in time. */
  get silences(): number {
    return this.#silences;
  }

  /** The route, or something like it, without a payment. */
  async ask(changes: Partial<Request> = {}): Promise<Reply> {
    const { method, path } = this.route;
    const wanted = changes.method ?? method;
    const body = hasBody(wanted) ? (this.route.body ?? this.#example) : undefined;
    const reply = await this.#client.send({ method, path, body, ...changes });
    if (!reply.ok && reply.why === 'silent') this.#silences += 1;
    return reply;
  }

  #example = '{}';

  /** Throws NoChallenge. */
  async challenge(): Promise<Challenge> {
    const reply = await this.ask();
    if (!reply.ok)
      throw new NoChallenge(`${toRouteName(this.route)} gives no answer without a payment`);
    const read = this.#payer.read(reply);
    if (typeof read === 'string') throw new NoChallenge(`${toRouteName(this.route)}: ${read}`);
    if (read.example !== null) this.#example = read.example;
    return read;
  }

  /** A payment for this route. Throws NoChallenge. */
  async pay(changes: Changes = {}): Promise<Payment> {
    return this.#payer.pay(await this.challenge(), changes);
  }

  send({ headers }: Pick<Payment, 'headers'>, timeoutMs?: number): Promise<Reply> {
    return this.ask({ headers, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  }
}

function hasBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}
