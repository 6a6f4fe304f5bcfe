import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import fp from 'fastify-plugin';
import { ERROR_CODES } from '../src/service/errors/error-codes.ts';

type OpenApiOptions = {
  readonly baseUrl: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
};

/** A keyword in the schemas of our routes. Its members only go into the OpenAPI document, and validate nothing. */
export const OPENAPI_KEYWORD = 'documented';

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
          schemas: { Error: errorSchema() },
          securitySchemes: {
            x402: {
              type: 'http',
              scheme: 'x402',
              description:
                'x402 V2, scheme exact: call without payment, sign for one entry of the 402 challenge, and call again with PAYMENT-SIGNATURE (or X-PAYMENT).',
            },
          },
        },
      },
      transform: ({ schema, url }) => ({ schema: withOpenApiMembers(schema), url }),
      // Only operations with an offer have a tag. Pages have no tag.
      hideUntagged: true,
    });
  },
  { name: 'openapi', dependencies: ['offers'] },
);

function withOpenApiMembers(schema: FastifySchema): FastifySchema {
  const { body, querystring, params } = schema;
  return {
    ...schema,
    ...(body ? { body: mergeOpenApiMembers(body) } : {}),
    ...(querystring ? { querystring: mergeOpenApiMembers(querystring) } : {}),
    ...(params ? { params: mergeOpenApiMembers(params) } : {}),
  };
}

function mergeOpenApiMembers(schema: unknown): unknown {
  const { properties = {}, ...rest } = schema as {
    readonly properties?: Readonly<Record<string, { readonly [OPENAPI_KEYWORD]?: object }>>;
  }; // schemas of our routes are always objects
  const merged = Object.entries(properties).map(([name, property]) => {
    const { [OPENAPI_KEYWORD]: openApiMembers, ...validated } = property;
    return [name, { ...validated, ...openApiMembers }] as const;
  });
  return { ...rest, properties: Object.fromEntries(merged) };
}

/** Lists every error code, also `not_found` and `method_not_allowed`, which no documented operation answers. */
function errorSchema() {
  return {
    type: 'object' as const,
    description: 'Every error of this API has this form.',
    required: ['error', 'message'],
    properties: {
      error: {
        type: 'string' as const,
        enum: Object.keys(ERROR_CODES),
        description: 'A stable code. Programs should decide by it, and not by the message.',
      },
      message: { type: 'string' as const, description: 'What happened and what to do.' },
    },
  };
}
