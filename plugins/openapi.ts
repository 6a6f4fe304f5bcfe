import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import fp from 'fastify-plugin';
import { ERROR_CODES } from '../src/model/error-codes.ts';

export type OpenApiOptions = {
  readonly baseUrl: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
};

/** Schema keyword with facts for the OpenAPI document; validators ignore it. */
export const DOCUMENTED = 'documented';

/** Writes OpenAPI 3.1 from the schemas of the routes; `app.swagger()` returns it. */
export default fp(
  async (app: FastifyInstance, { baseUrl, info, tags }: OpenApiOptions) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info,
        servers: [{ url: baseUrl }],
        tags: [...tags],
        components: {
          schemas: { Error: anyErrorSchema() },
          securitySchemes: {
            x402: {
              type: 'http',
              scheme: 'x402',
              description:
                'x402 V2, scheme exact: call without payment, sign for one entry of the 402 challenge, repeat with PAYMENT-SIGNATURE (or X-PAYMENT).',
            },
          },
        },
      },
      transform: ({ schema, url }) => ({ schema: withDocumented(schema), url }),
      // Pages and operations without an offer carry no tag.
      hideUntagged: true,
    });
  },
  { name: 'openapi', dependencies: ['offers'] },
);

function withDocumented(schema: FastifySchema): FastifySchema {
  const { body, querystring, params } = schema;
  return {
    ...schema,
    ...(body ? { body: describeProperties(body) } : {}),
    ...(querystring ? { querystring: describeProperties(querystring) } : {}),
    ...(params ? { params: describeProperties(params) } : {}),
  };
}

function describeProperties(schema: unknown): unknown {
  const { properties = {}, ...rest } = schema as {
    readonly properties?: Readonly<Record<string, { readonly [DOCUMENTED]?: object }>>;
  }; // our own route schemas, which are objects by construction
  const described = Object.entries(properties).map(([name, property]) => {
    const { [DOCUMENTED]: documented, ...validated } = property;
    return [name, { ...validated, ...documented }] as const;
  });
  return { ...rest, properties: Object.fromEntries(described) };
}

/** Lists every error code, also `not_found` and `method_not_allowed`, which no operation answers. */
function anyErrorSchema() {
  return {
    type: 'object' as const,
    description: 'Every error of this API has this form.',
    required: ['error', 'message'],
    properties: {
      error: {
        type: 'string' as const,
        enum: Object.keys(ERROR_CODES),
        description: 'Stable: decide by it, not by the message.',
      },
      message: { type: 'string' as const, description: 'What happened and what to do.' },
    },
  };
}
