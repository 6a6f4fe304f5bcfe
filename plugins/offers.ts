import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify';
import fp from 'fastify-plugin';
import type { Offer } from '../src/config/revision.ts';
import type { Operation, OperationParameter } from '../src/http/documents/operation.ts';
import { type PaymentInfo, paymentInfo } from '../src/http/documents/payment-info.ts';
import { challengeSchema } from '../src/http/routes/challenge-schema.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Price and rate of the route. */
    offer?: Offer;
    /** Path of the route whose limit counts these requests too; its own by default. */
    bucket?: string;
  }
  interface FastifySchema {
    'x-payment-info'?: PaymentInfo;
  }
  interface FastifyInstance {
    /** The documented operations, in the order of registration. */
    operations: Operation[];
  }
}

/**
 * Completes every route that has an offer: security, payment info and 402 answer in its schema. A
 * route with an offer is documented unless its schema is hidden.
 */
export default fp(
  async (app: FastifyInstance) => {
    const operations: Operation[] = [];
    app.decorate('operations', operations);
    app.addHook('onRoute', (route) => {
      const offer = route.config?.offer;
      if (offer === undefined) return;
      route.schema = withOffer(route.schema ?? {}, offer);
      const method = documentedMethod(route);
      if (method !== null && route.schema.hide !== true) {
        operations.push(toOperation(route.url, method, route.schema, offer));
      }
    });
  },
  { name: 'offers' },
);

function withOffer(schema: FastifySchema, offer: Offer): FastifySchema {
  if (offer.kind === 'free') return { ...schema, security: [] };
  const declared = typeof schema.response === 'object' ? schema.response : {};
  return {
    ...schema,
    security: [{ x402: [] }],
    'x-payment-info': paymentInfo(offer.priceBaseUnits),
    response: { ...declared, 402: challengeSchema },
  };
}

/** Null for the HEAD route that Fastify adds to every GET. */
function documentedMethod({ method }: RouteOptions): Operation['method'] | null {
  if (method === 'GET') return 'GET';
  return method === 'POST' ? 'POST' : null;
}

function toOperation(
  path: string,
  method: Operation['method'],
  schema: FastifySchema,
  offer: Offer,
): Operation {
  const { operationId, summary, description, tags } = schema;
  if (operationId === undefined || summary === undefined || tags?.[0] === undefined) {
    throw new Error(`${method} ${path} has an offer: give it operationId, summary and a tag.`);
  }
  return {
    operationId,
    method,
    path: path.replaceAll(/:(\w+)/g, '{$1}'),
    tag: tags[0],
    summary,
    description: description ?? summary,
    parameters: [
      ...parametersOf(schema.params, 'path'),
      ...parametersOf(schema.querystring, 'query'),
      ...parametersOf(schema.body, 'body'),
    ],
    offer,
  };
}

function parametersOf(schema: unknown, place: OperationParameter['in']): OperationParameter[] {
  const { properties, required = [] } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
    readonly required?: readonly string[];
  }; // our own route schemas, which are objects by construction
  return Object.entries(properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    description: property.description ?? '',
  }));
}
