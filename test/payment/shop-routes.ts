import { InvalidRequest } from '../../src/errors/errors.ts';
import type { ComputeContext, ComputedAnswer, PaidRoute } from '../../src/payment/paid-route.ts';

/** One computation: what was asked, for whom. */
export interface Computation {
  readonly item: string;
  readonly context: ComputeContext;
}

/** What a test tells the work route to do. */
export interface WorkConduct {
  /** Runs instead of answering at once; throws, waits or answers. */
  readonly compute?: (item: string, context: ComputeContext) => Promise<ComputedAnswer>;
  readonly publish?: (scanId: string) => Promise<void>;
}

/** What became of its calls. */
export interface WorkBook {
  readonly computations: Computation[];
  readonly published: string[];
  /** Scans that payers left unpaid, as `payer scan`. */
  readonly unpaid: Set<string>;
  readonly state: { isSaturated: boolean };
  readonly clock: () => number;
  readonly price: bigint;
}

export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

/** What the shop sells for an item, if the test says nothing else. */
export function answerOf(item: string): ComputedAnswer {
  return {
    headers: JSON_HEADERS,
    body: JSON.stringify({ item, text: `Work on ${item}: ü, 漢字.`, charged: true }),
    scanId: `scan-of-${item}`,
  };
}

/** Work for an item, published once it is paid for. */
export function workRoute(conduct: WorkConduct, book: WorkBook): PaidRoute<string> {
  const { computations, published, unpaid, state, clock, price } = book;
  return {
    name: 'work',
    method: 'POST',
    path: '/work',
    description: 'Does some work.',
    priceBaseUnits: price,
    maxTimeoutSeconds: 300,
    minValidityMs: 90_000,
    discovery: discovery('item'),
    parse({ body }) {
      const item = (body as { item?: unknown } | undefined)?.item;
      if (typeof item !== 'string') throw new InvalidRequest('The member "item" is missing.');
      return item;
    },
    canonical: (item) => item,
    isSaturated: () => state.isSaturated,
    async compute(item, context) {
      computations.push({ item, context });
      return conduct.compute?.(item, context) ?? answerOf(item);
    },
    async publish(scanId) {
      await conduct.publish?.(scanId);
      published.push(scanId);
    },
    unpaidWork: {
      async note({ payer, scanId }) {
        unpaid.add(`${payer} ${scanId}`);
      },
      async clear({ payer, scanId }) {
        unpaid.delete(`${payer} ${scanId}`);
      },
      async blockedUntilMs(payer) {
        const left = [...unpaid].filter((mark) => mark.startsWith(payer));
        return left.length > 5 ? clock() + 60_000 : null;
      },
    },
  };
}

/** `n` kilobytes in as many pieces. */
export function listRoute(price: bigint): PaidRoute<string> {
  return {
    name: 'list',
    method: 'GET',
    path: '/list',
    description: 'Lists a lot.',
    priceBaseUnits: price,
    maxTimeoutSeconds: 120,
    minValidityMs: 20_000,
    discovery: discovery('n'),
    parse: ({ query }) => String((query as { n?: string }).n ?? '3'),
    canonical: (n) => n,
    async compute(n) {
      return { headers: JSON_HEADERS, body: pieces(Number(n)) };
    },
  };
}

function discovery(name: string) {
  return {
    input: { [name]: 'x' },
    inputSchema: { type: 'object', properties: { [name]: { type: 'string' } } },
    output: { example: { ok: true }, schema: { properties: { ok: { type: 'boolean' } } } },
  };
}

async function* pieces(count: number): AsyncIterable<Uint8Array> {
  yield Buffer.from('["');
  for (let n = 0; n < count; n++) yield Buffer.from('x'.repeat(1000));
  yield Buffer.from('"]');
}
