/** The routes that a shop sells. */
import { InvalidRequest } from '../../../src/service/errors/errors.ts';
import type {
  ComputeContext,
  ComputedAnswer,
  PaidRoute,
} from '../../../src/service/payment/paid-route.ts';

/** One computation: what was asked, for whom. */
export type Computation = {
  readonly item: string;
  readonly context: ComputeContext;
};

/** Instructions of a test for the work route. */
export type WorkConduct = {
  /** Runs instead of answering at once; throws, waits or answers. */
  readonly compute?: (item: string, context: ComputeContext) => Promise<ComputedAnswer>;
  readonly publish?: (scanId: string) => Promise<void>;
  /** Default: it is. */
  readonly isPublic?: boolean;
  /** Default: more than anybody fills. */
  readonly maxRunning?: number;
  readonly isFinished?: (item: string, payer: string) => boolean;
};

/** Record of the route's calls. */
export type WorkRecord = {
  readonly computations: Computation[];
  readonly published: string[];
  readonly state: { isSaturated: boolean };
  readonly price: bigint;
};

export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

/** The shop's answer for an item, unless the test sets another one. */
export function createItemAnswer(item: string): ComputedAnswer {
  return {
    headers: JSON_HEADERS,
    body: JSON.stringify({ item, text: `Work on ${item}: ü, 漢字.`, charged: true }),
    scanId: `scan-of-${item}`,
  };
}

/** Work for an item, published once it is paid for. */
export function workRoute(conduct: WorkConduct, record: WorkRecord): PaidRoute<string> {
  const { computations, published, state, price } = record;
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
    toCanonicalText: (item) => item,
    isSaturated: () => state.isSaturated,
    async compute(item, context) {
      computations.push({ item, context });
      return conduct.compute?.(item, context) ?? createItemAnswer(item);
    },
    async publish(scanId) {
      await conduct.publish?.(scanId);
      published.push(scanId);
    },
    isPublic: conduct.isPublic ?? true,
    toHost: (item) => item,
    workLimit: {
      maxRunning: conduct.maxRunning ?? 1_000,
      isShared: async () => false,
      isFinished: async (item, payer) => conduct.isFinished?.(item, payer) ?? false,
    },
  };
}

/** `n` kilobytes. */
export function listRoute(price: bigint): PaidRoute<string> {
  return {
    name: 'list',
    method: 'GET',
    path: '/list',
    description: 'Lists a lot.',
    priceBaseUnits: price,
    maxTimeoutSeconds: 120,
    minValidityMs: 20_000,
    isPublic: false,
    discovery: discovery('n'),
    parse: ({ query }) => String((query as { n?: string }).n ?? '3'),
    toCanonicalText: (n) => n,
    async compute(n) {
      return { headers: JSON_HEADERS, body: `["${'x'.repeat(1_000 * Number(n))}"]` };
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
