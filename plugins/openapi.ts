import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import fp from 'fastify-plugin';
import type { Revision } from '../src/config/revision.ts';
import { openApiInfo, TAGS } from '../src/http/documents/openapi-info.ts';
import { anyErrorSchema } from '../src/http/routes/error-schema.ts';

export type OpenApiOptions = {
  readonly revision: Revision;
  readonly baseUrl: string;
  readonly siteUrl: string;
};

/** Schema keyword with facts for the OpenAPI document; validators ignore it. */
export const DOCUMENTED = 'documented';

/** Writes OpenAPI 3.1 from the schemas of the routes; `app.swagger()` returns it. */
export default fp(
  async (app: FastifyInstance, { revision, baseUrl, siteUrl }: OpenApiOptions) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: openApiInfo(revision, { baseUrl, siteUrl }),
        servers: [{ url: baseUrl }],
        tags: [...TAGS],
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
