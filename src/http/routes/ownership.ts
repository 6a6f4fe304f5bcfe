import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { createDisconnectSignal } from '../../../plugins/connection.ts';
import type { Origin } from '../../guard/origin.ts';
import { type Client, toClient } from '../../limits/client-key.ts';
import type { ErrorCode } from '../../model/error-codes.ts';
import { changeListing, type ListingWish } from '../../ownership/listing.ts';
import { TOKEN_PATH } from '../../ownership/ownership-token.ts';
import { BODY_ERRORS, errorResponses, STORE_ERRORS } from './error-schema.ts';
import type { RouteContext } from './route-context.ts';
import { listingKeyParameter, requestedOrigin, urlParameter } from './url-parameter.ts';

/** Errors of routes that read the file with the ownership token. */
const READING = [
  'confirm_limit',
  'rate_limited',
  'scanner_failed',
  'saturated',
  'store_unavailable',
] as const satisfies readonly ErrorCode[];

const listingKey = listingKeyParameter;
const startBody = Type.Object({ url: urlParameter });
const confirmBody = Type.Object({ url: urlParameter, listingKey });
const listingBody = Type.Object({
  url: urlParameter,
  listed: Type.Optional(
    Type.Boolean({
      description: 'false removes the origin from the directory.',
      documented: { example: true },
    }),
  ),
  suppressEnrichment: Type.Optional(
    Type.Boolean({
      description: 'true hides the branding copied from the origin.',
      documented: { example: false },
    }),
  ),
  listingKey,
});

/** The members of all three bodies; each route's schema has refused the others. */
type OwnerBody = { readonly url: string } & ListingWish;

type OwnerRoute = {
  readonly path: string;
  readonly offer: 'verifyStart' | 'verifyConfirm' | 'listing';
  readonly summary: string;
  readonly description?: string;
  readonly body: TSchema;
  readonly response: Readonly<Record<string, unknown>>;
  readonly answer: (origin: Origin, client: Client, wish: ListingWish) => Promise<object>;
};

export const ownershipRoutes: FastifyPluginAsync<RouteContext> = async (app, parts) => {
  const { verification } = parts;

  const ownerRoute = (route: OwnerRoute) => registerRoute(app, parts, route);

  ownerRoute({
    path: '/v1/verify/start',
    offer: 'verifyStart',
    summary: 'Get a one-time token to prove control of a host',
    body: startBody,
    response: {
      200: Type.Object({
        host: Type.String(),
        token: Type.String(),
        listingKey: Type.String({
          description:
            'A secret that identifies you at POST /v1/listing once the token is confirmed.',
        }),
        wellKnownPath: Type.String({ const: TOKEN_PATH }),
        instructions: Type.String(),
        expiresInSec: Type.Integer(),
      }),
      ...errorResponses('invalid_url', ...BODY_ERRORS, 'challenge_limit', ...STORE_ERRORS),
    },
    answer: (origin, client) => verification.start(origin, client),
  });

  ownerRoute({
    path: '/v1/verify/confirm',
    offer: 'verifyConfirm',
    summary: 'Have the token read at the challenge path',
    description: `Reads ${TOKEN_PATH} over https, redirects not followed, at most once in 10 s: all who wait are answered by one reading that began after they asked. Serving any unexpired token of the host verifies it.`,
    body: confirmBody,
    response: {
      200: Type.Object({
        host: Type.String(),
        verified: Type.Boolean(),
        reason: Type.Optional(Type.String({ description: 'If it was not verified: the reason.' })),
        instructions: Type.String({ description: 'What to do next.' }),
      }),
      ...errorResponses('invalid_url', ...BODY_ERRORS, ...READING),
    },
    answer: (origin, client, wish) => verification.confirm(origin, client, wish.listingKey),
  });

  ownerRoute({
    path: '/v1/listing',
    offer: 'listing',
    summary: 'Leave the directory, or hide the branding (verified owners)',
    description:
      'Within an hour of the first confirm of the token, the client that started it, and any client that sends its listingKey, can change every setting. A setting made with the key can be changed only with the key, or after a later confirm. Other clients, while that token is still served, can only hide: listed false, suppressEnrichment true.',
    body: listingBody,
    response: {
      200: Type.Object({
        host: Type.String(),
        listed: Type.Boolean(),
        enrichmentSuppressed: Type.Boolean(),
      }),
      ...errorResponses(
        'invalid_url',
        ...BODY_ERRORS,
        'not_verified',
        'not_your_proof',
        ...READING,
      ),
    },
    answer: (origin, client, wish) => changeListing(parts, origin, client, wish),
  });
};

/** Skips a route that the API revision does not offer. */
function registerRoute(app: FastifyInstance, parts: RouteContext, route: OwnerRoute): void {
  const { path, answer, offer: name, ...described } = route;
  const offer = parts.config.revision.offers[name];
  if (offer === undefined) return;
  const schema = { operationId: name, tags: ['ownership'], ...described };
  app.post<{ Body: OwnerBody }>(path, { config: { offer }, schema }, async (request, reply) => {
    // Answers hold secrets, or facts that change at any moment.
    reply.header('cache-control', 'no-store');
    const { url, ...wish } = request.body;
    const client = toClient(request.ip, createDisconnectSignal(reply));
    return answer(requestedOrigin(url, parts), client, wish);
  });
}
