import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { DOCUMENT_OFFER } from '../../config/revision.ts';
import {
  toAgentCard,
  toPaymentManifest,
  toServiceDescription,
  writeLlmsFullTxt,
  writeLlmsTxt,
} from '../documents/agent-documents.ts';
import {
  DOCUMENTS_TAG,
  ICON_SVG,
  PATHS,
  type ServiceFacts,
  toServiceFacts,
  toTermsDocument,
  writeTerms,
} from '../documents/service-facts.ts';
import { errorResponses } from './answer-schema.ts';
import type { RouteContext } from './route-context.ts';

type Document = {
  /** The name of its path in `PATHS`. */
  readonly operationId: keyof typeof PATHS;
  readonly summary: string;
  /** Called at the first request, when all routes are registered. The text is then cached. */
  readonly write: (facts: ServiceFacts, app: FastifyInstance) => object | string;
};

const DOCUMENTS: readonly Document[] = [
  {
    operationId: 'discovery',
    summary: 'Every operation and its price',
    write: toServiceDescription,
  },
  {
    operationId: 'openapi',
    summary: 'This description, OpenAPI 3.1',
    write: (_facts, app) => app.swagger(),
  },
  {
    operationId: 'llms',
    summary: 'An overview of the service for language models',
    write: writeLlmsTxt,
  },
  {
    operationId: 'llmsFull',
    summary: 'The overview for language models, with parameters, payment and errors',
    write: writeLlmsFullTxt,
  },
  {
    operationId: 'paymentManifest',
    summary: 'The paid operations and the recipient of the payments',
    write: toPaymentManifest,
  },
  {
    operationId: 'agentCard',
    summary: 'Skills and interfaces',
    write: toAgentCard,
  },
  {
    operationId: 'terms',
    summary: 'Terms of service',
    write: writeTerms,
  },
  {
    operationId: 'termsJson',
    summary: 'Terms of service as JSON',
    write: toTermsDocument,
  },
];

/** Serves the documents that agents and indexes read before their first call. */
export const documentRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const facts = toServiceFacts(parts.config, parts.catalog.checksVersion, app.operations);
  for (const document of DOCUMENTS) addDocument(app, document, facts);
  addAsset(app, '/robots.txt', 'text/plain; charset=utf-8', 'User-agent: *\nAllow: /\n');
  // Browsers and indexes request favicon.ico by default, and accept an SVG as its content.
  addAsset(app, '/favicon.svg', 'image/svg+xml', ICON_SVG);
  addAsset(app, '/favicon.ico', 'image/svg+xml', ICON_SVG);
};

function addDocument(app: FastifyInstance, document: Document, facts: ServiceFacts): void {
  const { operationId, summary, write } = document;
  const path = PATHS[operationId];
  const isText = path.endsWith('.txt');
  const type = isText ? 'text/plain' : 'application/json';
  const bodySchema = isText ? Type.String() : Type.Object({}, { additionalProperties: true });
  let cachedText: string | null = null;
  app.get(
    path,
    {
      config: { offer: DOCUMENT_OFFER },
      schema: {
        operationId,
        tags: [DOCUMENTS_TAG],
        summary,
        response: {
          200: { description: summary, content: { [type]: { schema: bodySchema } } },
          ...errorResponses('rate_limited'),
        },
      },
    },
    async (_request, reply) => {
      if (cachedText === null) {
        const content = write(facts, app);
        cachedText = typeof content === 'string' ? content : JSON.stringify(content);
      }
      return reply
        .header('cache-control', 'public, max-age=300')
        .type(`${type}; charset=utf-8`)
        .send(cachedText);
    },
  );
}

function addAsset(app: FastifyInstance, path: string, type: string, body: string): void {
  app.get(
    path,
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true } },
    async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=86400').type(type).send(body),
  );
}
