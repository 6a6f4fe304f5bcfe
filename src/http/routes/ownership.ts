import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { CHALLENGE_PATH } from '../../directory/challenge-fetch.ts';
import { clientKey } from '../../directory/client-key.ts';
import { changeListing } from '../../directory/listing.ts';
import { errorResponses } from './error-schema.ts';
import { type AppParts, requestedOrigin } from './route-context.ts';
import { urlParameter } from './url-parameter.ts';

const BAD_BODY = [
  'invalid_url',
  'invalid_request',
  'invalid_json',
  'invalid_query',
  'body_too_large',
  'unsupported_media_type',
] as const;

const urlBody = Type.Object({ url: urlParameter });

export const ownershipRoutes: FastifyPluginAsyncTypebox<AppParts> = async (app, parts) => {
  await app.register(startRoute, parts);
  await app.register(confirmRoute, parts);
  await app.register(listingRoute, parts);
};

const startRoute: FastifyPluginAsyncTypebox<AppParts> = async (app, parts) => {
  const offer = parts.config.revision.offers.verifyStart;
  if (offer === undefined) return;
  app.post(
    '/v1/verify/start',
    {
      config: { offer },
      schema: {
        operationId: 'verifyStart',
        tags: ['ownership'],
        summary: 'Get a one-time token to prove control of a host',
        body: urlBody,
        response: {
          200: Type.Object({
            host: Type.String(),
            token: Type.String(),
            wellKnownPath: Type.String({ const: CHALLENGE_PATH }),
            instructions: Type.String(),
            expiresInSec: Type.Integer(),
          }),
          ...errorResponses(...BAD_BODY, 'challenge_limit', 'rate_limited', 'store_unavailable'),
        },
      },
    },
    async ({ body, ip }, reply) => {
      reply.header('cache-control', 'no-store');
      return parts.verification.start(requestedOrigin(body.url, parts), clientKey(ip));
    },
  );
};

const confirmRoute: FastifyPluginAsyncTypebox<AppParts> = async (app, parts) => {
  const offer = parts.config.revision.offers.verifyConfirm;
  if (offer === undefined) return;
  app.post(
    '/v1/verify/confirm',
    {
      config: { offer },
      schema: {
        operationId: 'verifyConfirm',
        tags: ['ownership'],
        summary: 'Have the token read at the challenge path',
        description: `Reads ${CHALLENGE_PATH} over https, redirects not followed. Serving any unexpired token of the host verifies it.`,
        body: urlBody,
        response: {
          200: Type.Object({
            host: Type.String(),
            verified: Type.Boolean(),
            reason: Type.Optional(Type.String({ description: 'Where it was not verified: why.' })),
            instructions: Type.String({ description: 'What to do next.' }),
          }),
          ...errorResponses(
            ...BAD_BODY,
            'confirm_limit',
            'rate_limited',
            'scanner_failed',
            'store_unavailable',
          ),
        },
      },
    },
    async ({ body, ip }, reply) => {
      reply.header('cache-control', 'no-store');
      return parts.verification.confirm(requestedOrigin(body.url, parts), clientKey(ip));
    },
  );
};

const listingRoute: FastifyPluginAsyncTypebox<AppParts> = async (app, parts) => {
  const offer = parts.config.revision.offers.listing;
  if (offer === undefined) return;
  app.post(
    '/v1/listing',
    {
      config: { offer },
      schema: {
        operationId: 'listing',
        tags: ['ownership'],
        summary: 'Leave the directory, or hide the branding (verified owners)',
        description:
          'Within an hour of a confirm everything can be set. Later, while the token of that confirm is still served, only what hides: listed false, suppressEnrichment true.',
        body: Type.Object({
          url: urlParameter,
          listed: Type.Optional(
            Type.Boolean({ description: 'false removes the origin from the directory.' }),
          ),
          suppressEnrichment: Type.Optional(
            Type.Boolean({ description: 'true hides the branding copied from the origin.' }),
          ),
        }),
        response: {
          200: Type.Object({
            host: Type.String(),
            listed: Type.Boolean(),
            enrichmentSuppressed: Type.Boolean(),
          }),
          ...errorResponses(
            ...BAD_BODY,
            'not_verified',
            'confirm_limit',
            'rate_limited',
            'scanner_failed',
            'store_unavailable',
          ),
        },
      },
    },
    async ({ body, ip }, reply) => {
      reply.header('cache-control', 'no-store');
      const origin = requestedOrigin(body.url, parts);
      const { listed, suppressEnrichment } = body;
      return changeListing(parts, origin, clientKey(ip), { listed, suppressEnrichment });
    },
  );
};
