import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { createDisconnectSignal } from '../../../../plugins/connection.ts';
import type { Origin } from '../../../scanner/guard/origin.ts';
import type { OperationId } from '../../config/revision.ts';
import type { ErrorCode } from '../../errors/error-codes.ts';
import { changeListing } from '../../ownership/change-listing.ts';
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

/** A route for the owner of the host that its body names by `url`. */
type OwnerRoute<Body extends TSchema> = {
  readonly url: string;
  readonly summary: string;
  readonly description?: string;
  readonly body: Body;
  readonly answer: TSchema;
  /** Errors besides those of the `url` and of the body. */
  readonly errors: readonly ErrorCode[];
  readonly handle: (origin: Origin, client: Client, body: Static<Body>) => Promise<object>;
};

export const ownershipRoutes: FastifyPluginAsync<RouteContext> = async (app, parts) => {
  const { verification } = parts;

  offerToOwner(app, parts, 'verifyStart', {
    url: '/v1/verify/start',
    summary: 'Get a one-time token to prove control of a host',
    body: Type.Object({ url: urlParameter }),
    answer: Type.Object({
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
    errors: ['challenge_limit', ...STORE_ERRORS],
    handle: (origin, client) => verification.start(origin, client),
  });

  offerToOwner(app, parts, 'verifyConfirm', {
    url: '/v1/verify/confirm',
    summary: 'Ask the service to read the token on your host',
    description: `Reads ${TOKEN_PATH} over https, without following redirects, at most once in 10 s. Requests that arrive before a reading starts are all answered by that reading. A host that serves any unexpired token is verified.`,
    body: Type.Object({ url: urlParameter, listingKey: listingKeyParameter }),
    answer: Type.Object({
      host: Type.String(),
      verified: Type.Boolean(),
      reason: Type.Optional(
        Type.String({ description: 'The reason why the host was not verified.' }),
      ),
      instructions: Type.String({ description: 'What to do next.' }),
    }),
    errors: TOKEN_READING_ERRORS,
    handle: (origin, client, { listingKey }) => verification.confirm(origin, client, listingKey),
  });

  offerToOwner(app, parts, 'listing', {
    url: '/v1/listing',
    summary: 'Leave the directory, or hide the branding (verified owners)',
    description:
      'For an hour after the first confirm of a token, every setting can be changed by the client that started the verification, and by any client that sends the listingKey. A setting that was made with the key can be changed only with the key, or after a later confirm. While the host still serves the token, any other client can only hide the origin or its branding: listed false, suppressEnrichment true.',
    body: listingBody,
    answer: Type.Object({
      host: Type.String(),
      listed: Type.Boolean(),
      enrichmentSuppressed: Type.Boolean(),
    }),
    errors: ['not_verified', 'not_your_proof', ...TOKEN_READING_ERRORS],
    handle: (origin, client, body) => changeListing(parts, origin, client, body),
  });
};

/** Registers a POST route that gives `handle` the origin which the body names, and the client. */
export function offerToOwner<Body extends TSchema>(
  app: FastifyInstance,
  parts: RouteContext,
  operation: OperationId,
  { url, body: bodySchema, answer, errors, handle, ...texts }: OwnerRoute<Body>,
): void {
  const response = { 200: answer, ...errorResponses('invalid_url', ...BODY_ERRORS, ...errors) };
  app.offer(operation, {
    method: 'POST',
    url,
    schema: { tags: ['ownership'], ...texts, body: bodySchema, response },
    async handler(request, reply) {
      // Caches must not keep the answers, which hold a secret or a fact that can change at any time.
      reply.header('cache-control', 'no-store');
      const body = request.body as Static<Body> & { readonly url: string }; // the schema has validated it
      const client = toClient(request.ip, createDisconnectSignal(reply));
      return handle(parseRequestedOrigin(body.url, parts), client, body);
    },
  });
}
