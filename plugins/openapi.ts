/** The OpenAPI document, made of the routes. */
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify';
import fp from 'fastify-plugin';
import type { Revision } from '../src/config/revision.ts';
import { openApiInfo, TAGS } from '../src/http/documents/openapi-info.ts';
import { anyErrorSchema } from '../src/http/routes/error-schema.ts';
import { schemaCompilers } from '../src/http/validators/request-validators.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Writes the document; complete once every route is registered. */
    writeOpenApi(): Promise<object>;
  }
}

export type OpenApiOptions = {
  readonly revision: Revision;
  readonly baseUrl: string;
  readonly siteUrl: string;
};

type DocumentedRoute = Required<Pick<RouteOptions, 'method' | 'url' | 'schema'>>;

/** OpenAPI 3.1, from the schemas of the routes and nothing else. */
export default fp(
  async (app: FastifyInstance, options: OpenApiOptions) => {
    const routes: DocumentedRoute[] = [];
    app.addHook('onRoute', ({ method, url, schema }) => {
      if (method !== 'HEAD' && schema !== undefined) routes.push({ method, url, schema });
    });
    app.decorate('writeOpenApi', () => writeOpenApi(routes, options));
  },
  { name: 'openapi', dependencies: ['offers'] },
);

/**
 * What writes the document brings a hundred modules: they are loaded for its first reader. It
 * listens to routes as they are registered, so it hears of all of them once more, on an instance
 * that serves nothing.
 */
async function writeOpenApi(
  routes: readonly DocumentedRoute[],
  { revision, baseUrl, siteUrl }: OpenApiOptions,
): Promise<object> {
  const { default: swagger } = await import('@fastify/swagger');
  const scribe = Fastify({
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: schemaCompilers },
  });
  await scribe.register(swagger, {
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
    // Pages and operations without an offer carry no tag.
    hideUntagged: true,
  });
  for (const route of routes) scribe.route({ ...route, handler: () => undefined });
  await scribe.ready();
  return scribe.swagger();
}
