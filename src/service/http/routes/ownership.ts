import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { createDisconnectSignal } from '../../../../plugins/connection.ts';
import type { Origin } from '../../../scanner/guard/origin.ts';
import type { ErrorCode } from '../../errors/error-codes.ts';
import { changeListing, type ListingRequest } from '../../ownership/change-listing.ts';
import { TOKEN_PATH } from '../../ownership/token-reader.ts';
import { type Client, toClient } from '../../turns/client-key.ts';
import { BODY_ERRORS, errorResponses, STORE_ERRORS } from './answer-schema.ts';
import {
  listingKeyParameter,
  parseRequestedOrigin,
  type RouteContext,
  urlParameter,
} from './route-context.ts';

/** Errors of routes that read the file with the ownership token. */
const TOKEN_READING_ERRORS = [
  'confirm_limit',
  'rate_limited',
  'scanner_failed',
  'saturated',
  'store_unavailable',
] as const satisfies readonly ErrorCode[];

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
      description: 'true hides the branding that was copied from the origin.',
      documented: { example: false },
    }),
  ),
  listingKey: listingKeyParameter,
});

/** The members of the bodies of all three routes. The schema of each route requires its own members. */
type OwnerBody = { readonly url: string } & ListingRequest;

type OwnerRoute = {
  readonly path: string;
  readonly offer: 'verifyStart' | 'verifyConfirm' | 'listing';
  readonly summary: string;
  readonly description?: string;
  readonly body: TSchema;
  readonly response: Readonly<Record<string, unknown>>;
  readonly handle: (origin: Origin, client: Client, request: ListingRequest) => Promise<object>;
};

export const ownershipRoutes: FastifyPluginAsync<RouteContext> = async (app, parts) => {
  const { verification } = parts;

  const addRoute = (route: OwnerRoute) => registerRoute(app, parts, route);

  addRoute({
    path: '/v1/verify/start',
    offer: 'verifyStart',
    summary: 'Get a one-time token to prove control of a host',
    body: Type.Object({ url: urlParameter }),
    response: {
      200: Type.Object({
        host: Type.String(),
        token: Type.String(),
        listingKey: Type.String({
          description:
            'A secret that identifies you at POST /v1/listing after the token is confirmed.',
        }),
        wellKnownPath: Type.String({ const: TOKEN_PATH }),
        instructions: Type.String(),
        expiresInSec: Type.Integer(),
      }),
      ...errorResponses('invalid_url', ...BODY_ERRORS, 'challenge_limit', ...STORE_ERRORS),
    },
    handle: (origin, client) => verification.start(origin, client),
  });

  addRoute({
    path: '/v1/verify/confirm',
    offer: 'verifyConfirm',
    summary: 'Ask the service to read the token on your host',
    description: `Reads ${TOKEN_PATH} over https, without following redirects, at most once in 10 s. Requests that arrive before a reading starts are all answered by that reading. A host that serves any unexpired token is verified.`,
    body: Type.Object({ url: urlParameter, listingKey: listingKeyParameter }),
    response: {
      200: Type.Object({
        host: Type.String(),
        verified: Type.Boolean(),
        reason: Type.Optional(
          Type.String({ description: 'The reason why the host was not verified.' }),
        ),
        instructions: Type.String({ description: 'What to do next.' }),
      }),
      ...errorResponses('invalid_url', ...BODY_ERRORS, ...TOKEN_READING_ERRORS),
    },
    handle: (origin, client, request) => verification.confirm(origin, client, request.listingKey),
  });

  addRoute({
    path: '/v1/listing',
    offer: 'listing',
    summary: 'Leave the directory, or hide the branding (verified owners)',
    description:
      'For an hour after the first confirm of a token, every setting can be changed by the client that started the verification, and by any client that sends the listingKey. A setting that was made with the key can be changed only with the key, or after a later confirm. While the host still serves the token, any other client can only hide the origin or its branding: listed false, suppressEnrichment true.',
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
        ...TOKEN_READING_ERRORS,
      ),
    },
    handle: (origin, client, request) => changeListing(parts, origin, client, request),
  });
};

/** Skips a route that the API revision does not offer. */
function registerRoute(app: FastifyInstance, parts: RouteContext, route: OwnerRoute): void {
  const { path, handle, offer: name, ...routeSchema } = route;
  const offer = parts.config.revision.offers[name];
  if (offer === undefined) return;
  const schema = { operationId: name, tags: ['ownership'], ...routeSchema };
  app.post<{ Body: OwnerBody }>(path, { config: { offer }, schema }, async (request, reply) => {
    // Caches must not keep the answers, which hold a secret or a fact that can change at any time.
    reply.header('cache-control', 'no-store');
    const { url, ...listingRequest } = request.body;
    const client = toClient(request.ip, createDisconnectSignal(reply));
    return handle(parseRequestedOrigin(url, parts), client, listingRequest);
  });
}
