/** The payment gate over HTTP, with routes that a test conducts. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import errors from '../../../plugins/error-answers.ts';
import offers from '../../../plugins/offers.ts';
import payment from '../../../plugins/payment.ts';
import unknownPaths from '../../../plugins/unknown-paths.ts';
import type { PaidRoute } from '../../../src/service/payment/paid-route.ts';
import {
  createPayments,
  type Payments,
  type PaymentsOptions,
} from '../../../src/service/payment/payments.ts';
import type { Facilitator } from '../../../src/service/payment/settle/facilitator.ts';
import { createMockFacilitator } from '../../../src/service/payment/settle/mock-facilitator.ts';
import type { PaymentTerms } from '../../../src/service/payment/terms.ts';
import { type PaymentTiming, toPaymentTiming } from '../../../src/service/payment/timing.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import type { Row } from '../../../src/service/store/tables.ts';
import { PRICE, TERMS } from './payer.ts';
import {
  type Computation,
  createItemAnswer,
  listRoute,
  type WorkConduct,
  workRoute,
} from './shop-routes.ts';

export { createItemAnswer, JSON_HEADERS } from './shop-routes.ts';

export type ShopOptions = Partial<
  Pick<PaymentsOptions, 'maxWaiting' | 'rpcUrl' | 'onEvent' | 'onError' | 'isRateLimited'>
> &
  WorkConduct & {
    /** Times that differ from the real ones. */
    readonly timing?: Partial<PaymentTiming>;
    readonly terms?: PaymentTerms;
    readonly facilitator?: Facilitator;
    readonly store?: Store;
    readonly clock?: () => number;
    readonly answerWithinMs?: number;
    readonly price?: bigint;
    readonly trustsProxy?: boolean;
    /** Lines of the log, from `warn` on. */
    readonly logged?: string[];
  };

export type ShopAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** Settlement of a 200; null otherwise. */
  readonly paid: { success: boolean; transaction: string; network: string; payer: string } | null;
  readonly json: Record<string, unknown>;
};

type Settled = { readonly payer: string; readonly value: bigint };

export type Shop = AsyncDisposable & {
  readonly url: string;
  readonly store: Store;
  readonly payments: Payments;
  readonly computations: Computation[];
  /** Settlements of the mock, in order. */
  readonly settlements: Settled[];
  readonly published: string[];
  readonly troubles: string[];
  /** Scans that a payer left unpaid; only debts count against them. */
  unpaid(payer: string): Promise<readonly Row<'unpaid'>[]>;
  isSaturated: boolean;
  /** Paid calls that have reached the gate and are not answered. */
  runningPaidCalls(): number;
  buy(item: string, headers?: Record<string, string>, init?: RequestInit): Promise<ShopAnswer>;
  get(path: string, headers?: Record<string, string>): Promise<ShopAnswer>;
  /** Starts a call of `buy`. `hangUp` disconnects its client, which gets no answer. */
  call(item: string, headers?: Record<string, string>): { hangUp(): Promise<void> };
};

/** Two paid routes, the real gate, a real socket; what they sell is told by the test. */
export async function startShop(options: ShopOptions = {}): Promise<Shop> {
  const { terms = TERMS, clock = Date.now, price = PRICE } = options;
  const store = options.store ?? openSqlite(MEMORY, { clock });
  const settlements: Settled[] = [];
  const mock = createMockFacilitator(terms, clock);
  const facilitator = options.facilitator ?? withRecord(mock, settlements);
  const computations: Computation[] = [];
  const published: string[] = [];
  const troubles: string[] = [];
  const state = { isSaturated: false };

  const work = workRoute(options, { computations, published, state, price });
  const list = listRoute(price);

  const payments = createPayments({
    ...options,
    timing: { ...toPaymentTiming(), ...options.timing },
    store,
    terms,
    baseUrl: 'https://shop.example',
    facilitator,
    rpcUrl: options.rpcUrl ?? null,
    routes: [work, list],
    isRateLimited: options.isRateLimited ?? true,
    onError(message, error) {
      troubles.push(message);
      options.onError?.(message, error);
    },
  });
  const { logged, trustsProxy = false } = options;
  const stream = { write: (line: string) => void logged?.push(line) };
  const app = Fastify({
    forceCloseConnections: true,
    ...(logged === undefined ? {} : { logger: { level: 'warn', stream } }),
  });
  await app.register(errors);
  await app.register(unknownPaths);
  await app.register(offers, { offers: {} });
  await app.register(payment, {
    gate: payments.gate,
    answerWithinMs: options.answerWithinMs ?? 60_000,
    trustsProxy,
  });
  const schema = (operationId: string) => ({ operationId, summary: operationId, tags: ['test'] });
  let runningPaidCalls = 0;
  app.addHook('preHandler', async (_request, reply) => {
    runningPaidCalls += 1;
    reply.raw.once('close', () => {
      runningPaidCalls -= 1;
    });
  });
  app.sell(work, { schema: schema('work'), offer: offerOf(work) });
  app.sell(list, { schema: schema('list'), offer: offerOf(list) });
  await payments.start();
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  async function request(path: string, init: RequestInit): Promise<ShopAnswer> {
    const response = await fetch(url + path, init);
    const body = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body,
      paid: paidOf(response),
      json: jsonOf(body),
    };
  }

  const buy: Shop['buy'] = (item, headers = {}, init = {}) =>
    request('/work', {
      method: 'POST',
      body: JSON.stringify({ item }),
      ...init,
      headers: { 'content-type': 'application/json', ...headers },
    });

  return {
    url,
    store,
    payments,
    computations,
    settlements,
    published,
    troubles,
    unpaid: (payer) => store.results.findUnpaid(payer.toLowerCase(), 0),
    runningPaidCalls: () => runningPaidCalls,
    get isSaturated() {
      return state.isSaturated;
    },
    set isSaturated(value) {
      state.isSaturated = value;
    },
    buy,
    call(item, headers) {
      const abort = new AbortController();
      const answer = buy(item, headers, { signal: abort.signal });
      return {
        async hangUp() {
          abort.abort();
          const isAnswered = await answer.then(
            () => true,
            () => false,
          );
          if (isAnswered) throw new Error('the call was answered before its client hung up');
        },
      };
    },
    get: (path, headers = {}) => request(path, { headers }),
    async [Symbol.asyncDispose]() {
      const closed = once(app.server, 'close');
      await payments.stop();
      await app.close();
      await closed;
      if (options.store === undefined) await store.close();
    },
  };
}

/** Starts a shop whose work ends only after `finishWork` is called, unless `holdWork` was told not to hold it. */
export async function startGatedShop(options: ShopOptions = {}) {
  const gate = newLatch();
  let isHeld = true;
  const shop = await startShop({
    ...options,
    async compute(item) {
      if (isHeld) await gate.opened;
      return createItemAnswer(item);
    },
  });
  return Object.assign(shop, {
    finishWork: gate.open,
    holdWork(mayHold: boolean) {
      isHeld = mayHold;
    },
  });
}

function offerOf({ priceBaseUnits, maxTimeoutSeconds }: PaidRoute) {
  return { kind: 'paid', priceBaseUnits, maxTimeoutSeconds } as const;
}

function paidOf({ status, headers }: Response): ShopAnswer['paid'] {
  const header = headers.get('payment-response');
  if (status !== 200 || header === null) return null;
  return JSON.parse(Buffer.from(header, 'base64').toString());
}

function jsonOf(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}

/** Keeps a record of the settlements of a facilitator. */
function withRecord(facilitator: Facilitator, settlements: Settled[]): Facilitator {
  return {
    ...facilitator,
    async settle(request) {
      const outcome = await facilitator.settle(request);
      const { from, value } = request.payment.authorization;
      if (outcome.kind === 'settled') settlements.push({ payer: from.toLowerCase(), value });
      return outcome;
    },
  };
}

/** A test uses it to end a computation at a chosen moment. */
export function newLatch() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
