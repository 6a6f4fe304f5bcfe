import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  ContextConfigDefault,
  FastifyInstance,
  FastifySchema,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
  RouteOptions,
} from 'fastify';
import fp from 'fastify-plugin';
import { Type } from 'typebox';
import type { OperationId, OperationOffer, Revision } from '../src/service/config/revision.ts';

/** One operation of the API, as the discovery documents describe it. */
export type DocumentedOperation = Readonly<ReturnType<typeof toOperation>>;

/** The OpenAPI extension that marks a paid operation, as AgentCash and x402scan read it. */
type PaymentInfo = {
  readonly price: { readonly mode: 'fixed'; readonly currency: 'USD'; readonly amount: string };
  readonly protocols: readonly [{ readonly x402: Record<string, never> }];
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The price and the rate limit of the route. */
    offer?: OperationOffer;
    /** Path of the route with which this route shares its rate limit; by default, this route's own path. */
    bucket?: string;
  }
  interface FastifySchema {
    'x-payment-info'?: PaymentInfo;
  }
  interface FastifyInstance {
    /** The documented operations, in the order of registration. */
    operations: DocumentedOperation[];
    /** Registers the route of an operation if the API revision offers it for free. */
    offer<const Schema extends FastifySchema>(
      operation: OperationId,
      route: OfferedRoute<Schema>,
    ): void;
  }
}

type OfferedRoute<Schema extends FastifySchema> = RouteOptions<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  RouteGenericInterface,
  ContextConfigDefault,
  Schema,
  TypeBoxTypeProvider
>;

/** USDC has 6 decimals. */
const BASE_UNITS_PER_DOLLAR = 1_000_000n;

/** The body of a 402. The header `PAYMENT-REQUIRED` of the 402 holds the same JSON. */
const challengeSchema = Type.Object(
  {
    x402Version: Type.Integer({ const: 2 }),
    error: Type.String({ description: 'A stable code, a colon, and what to do.' }),
    resource: Type.Object({ url: Type.String() }, { additionalProperties: true }),
    accepts: Type.Array(
      Type.Object({
        scheme: Type.String({ const: 'exact' }),
        network: Type.String({ description: 'CAIP-2, such as eip155:8453.' }),
        asset: Type.String(),
        amount: Type.String({ description: 'Base units of the asset, an integer.' }),
        payTo: Type.String(),
        maxTimeoutSeconds: Type.Integer(),
        extra: Type.Object({ name: Type.String(), version: Type.String() }),
      }),
    ),
    extensions: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { description: 'Payment required: sign for one entry of accepts and send PAYMENT-SIGNATURE.' },
);

/** Documents every route with an offer in its schema, and lists it in `app.operations` unless the schema is hidden. */
export default fp(
  async (app: FastifyInstance, { offers }: Pick<Revision, 'offers'>) => {
    const operations: DocumentedOperation[] = [];
    app.decorate('operations', operations);
    app.decorate('offer', function offer(this: FastifyInstance, operation, route) {
      const freeOffer = offers[operation];
      if (freeOffer?.kind !== 'free') return;
      const schema = { operationId: operation, ...route.schema };
      this.route({ ...route, schema, config: { ...route.config, offer: freeOffer } });
    });
    app.addHook('onRoute', (route) => {
      const offer = route.config?.offer;
      if (offer === undefined) return;
      route.schema = withOffer(route.schema ?? {}, offer);
      // Fastify adds a HEAD route to every GET route.
      const method = (['GET', 'POST'] as const).find((name) => name === route.method);
      if (method !== undefined && route.schema.hide !== true) {
        operations.push(toOperation(route.url, method, route.schema, offer));
      }
    });
  },
  { name: 'offers' },
);

function withOffer(schema: FastifySchema, offer: OperationOffer): FastifySchema {
  if (offer.kind === 'free') return { ...schema, security: [] };
  const responses = typeof schema.response === 'object' ? schema.response : {};
  return {
    ...schema,
    security: [{ x402: [] }],
    'x-payment-info': {
      price: { mode: 'fixed', currency: 'USD', amount: formatSixDecimals(offer.priceBaseUnits) },
      protocols: [{ x402: {} }],
    },
    response: { ...responses, 402: challengeSchema },
  };
}

function toOperation(
  path: string,
  method: 'GET' | 'POST',
  schema: FastifySchema,
  offer: OperationOffer,
) {
  const { operationId, summary, description, tags } = schema;
  if (operationId === undefined || summary === undefined || tags?.[0] === undefined) {
    throw new Error(`${method} ${path} is offered: it needs an operationId, a summary and a tag.`);
  }
  return {
    operationId,
    method,
    path: path.replaceAll(/:(\w+)/g, '{$1}'),
    tag: tags[0],
    summary,
    description: description ?? summary,
    parameters: [
      ...listParameters(schema.params, 'path'),
      ...listParameters(schema.querystring, 'query'),
      ...listParameters(schema.body, 'body'),
    ],
    offer,
  };
}

function listParameters(schema: unknown, location: 'path' | 'query' | 'body') {
  const { properties, required = [] } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
    readonly required?: readonly string[];
  }; // schemas of our routes are always objects
  return Object.entries(properties ?? {}).map(([name, property]) => ({
    name,
    in: location,
    required: required.includes(name),
    description: property.description ?? '',
  }));
}

/** Formats an amount in dollars with six decimals: `0.050000`. */
function formatSixDecimals(baseUnits: bigint): string {
  const fraction = String(baseUnits % BASE_UNITS_PER_DOLLAR).padStart(6, '0');
  return `${baseUnits / BASE_UNITS_PER_DOLLAR}.${fraction}`;
}

/** Formats an amount in dollars with at least two decimals: `0.05`. */
export function formatDollars(baseUnits: bigint): string {
  return formatSixDecimals(baseUnits).replace(/0{1,4}$/, '');
}

export function toPriceUsd(offer: OperationOffer): number {
  return offer.kind === 'paid' ? Number(formatSixDecimals(offer.priceBaseUnits)) : 0;
}

/** "$0.05", or "nothing" for a free route. */
export function formatPrice(offer: OperationOffer | undefined): string {
  return offer?.kind === 'paid' ? `$${formatDollars(offer.priceBaseUnits)}` : 'nothing';
}
