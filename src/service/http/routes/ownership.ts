/** The routes for the owner of a host: proof of control, listing and watch. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { createDisconnectSignal } from '../../../../plugins/connection.ts';
import type { Origin } from '../../../scanner/guard/origin.ts';
import { oneOf } from '../../../scanner/model/shapes.ts';
import type { OperationId } from '../../config/revision.ts';
import type { ErrorCode } from '../../errors/error-codes.ts';
import { changeListing } from '../../ownership/change-listing.ts';
import { TOKEN_PATH } from '../../ownership/token-reader.ts';
import { type Client, toClient } from '../../turns/client-key.ts';
import { BODY_ERRORS, errorResponses, nullableText, STORE_ERRORS } from './answer-schema.ts';
import {
  listingKeyParameter,
  OPENAPI_URL,
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
function offerToOwner<Body extends TSchema>(
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

const watchBody = Type.Object({
  url: urlParameter,
  webhook: Type.String({
    description:
      'The https URL to which the service posts events. The receiver agrees to the watch by its answer to watch.started.',
    documented: { ...OPENAPI_URL, example: 'https://hooks.example.com/x402' },
  }),
  listingKey: listingKeyParameter,
});

const watchSecretBody = Type.Object({
  url: urlParameter,
  secret: Type.String({
    maxLength: 128,
    description: 'The secret in the answer of POST /v1/watch.',
    documented: { example: 'whsec_c2VjcmV0LXRoYXQtc2lnbnMtdGhlLWV2ZW50cw==' },
  }),
});

const watchStatusSchema = Type.Object({
  host: Type.String(),
  state: oneOf<string>(['pending', 'active', 'ended']),
  endsAt: Type.String({
    description: 'The time at which the watch ended, or will end if it is not renewed.',
  }),
  nextLookAt: nullableText('The time of the next check, hourly or daily; null if none is planned.'),
  deliveries: Type.Array(
    Type.Object({
      id: Type.String({
        description: 'The webhook-id of the event, which is the same in every attempt.',
      }),
      type: Type.String(),
      at: Type.String(),
      tries: Type.Integer(),
      status: oneOf<string>(['waiting', 'delivered', 'failed']),
    }),
    { description: 'The newest 20, newest first.' },
  ),
});

/** The routes of an existing watch. Its owner names the watch by its secret. */
const SECRET_ROUTES = [
  {
    operation: 'watchStatus',
    action: 'status',
    url: '/v1/watch/status',
    summary: 'The state of a watch and its newest deliveries',
    description: 'A wrong secret and a host without a watch get the same 403.',
    errors: ['not_your_watch', ...STORE_ERRORS],
  },
  {
    operation: 'watchTest',
    action: 'test',
    url: '/v1/watch/test',
    summary: 'Send a test event to the webhook of a watch',
    description:
      'Sends watch.test after all waiting events. The answer is 409 until the receiver has agreed.',
    errors: ['not_your_watch', 'not_agreed', ...STORE_ERRORS],
  },
  {
    operation: 'watchStop',
    action: 'stop',
    url: '/v1/watch/stop',
    summary: 'End a watch',
    description:
      'The service sends no more requests to the host, and no more events. It deletes the data of the watch after 30 days.',
    errors: ['not_your_watch', ...STORE_ERRORS],
  },
] as const;

export const watchRoutes: FastifyPluginAsync<RouteContext> = async (app, parts) => {
  const { ownerWatches } = parts;
  offerToOwner(app, parts, 'watch', {
    url: '/v1/watch',
    summary: 'Watch your host: get a webhook when something breaks (verified owners)',
    description:
      'Watches a host whose listing you may change, for 30 days. The watch renews itself while you serve the verification file. Events are signed as Standard Webhooks. A second call replaces the watch and its secret: once in ten minutes if the receiver had agreed, else three times; more calls get 429 with Retry-After. Waiting events go to the new receiver when it agrees. The answer is 409 if the domain has five watches, if the receiver has 100, or if three of yours or of the domain are not agreed to.',
    body: watchBody,
    answer: Type.Object({
      host: Type.String(),
      secret: Type.String({
        description: 'The secret that signs the events. No other answer shows it.',
      }),
      endsAt: Type.String(),
      feedUrl: Type.String({ description: 'Atom feed of the published history.' }),
    }),
    errors: ['not_verified', 'not_your_proof', 'too_many_watches', ...STORE_ERRORS],
    handle: (origin, client, body) => ownerWatches.create(origin, client, body),
  });
  for (const { operation, action, ...route } of SECRET_ROUTES) {
    offerToOwner(app, parts, operation, {
      ...route,
      body: watchSecretBody,
      answer: watchStatusSchema,
      handle: (origin, _client, { secret }) => ownerWatches[action](origin, secret),
    });
  }
};
