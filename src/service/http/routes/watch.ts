import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type TSchema, Type } from 'typebox';
import { oneOf } from '../../../scanner/model/shapes.ts';
import type { ErrorCode } from '../../errors/error-codes.ts';
import { toClient } from '../../turns/client-key.ts';
import type { OwnerWatches } from '../../watch/owner-watches.ts';
import { BODY_ERRORS, errorResponses, STORE_ERRORS } from './answer-schema.ts';
import {
  listingKeyParameter,
  OPENAPI_URL,
  parseRequestedOrigin,
  type RouteContext,
  urlParameter,
} from './route-context.ts';

type WatchRouteContext = RouteContext & { readonly ownerWatches: OwnerWatches };

const createBody = Type.Object({
  url: urlParameter,
  webhook: Type.String({
    description:
      'The https URL to which the service posts events. The receiver agrees to the watch by its answer to watch.started.',
    documented: { ...OPENAPI_URL, example: 'https://hooks.example.com/x402' },
  }),
  listingKey: listingKeyParameter,
});

const secretBody = Type.Object({
  url: urlParameter,
  secret: Type.String({
    maxLength: 128,
    description: 'The secret in the answer of POST /v1/watch.',
    documented: { example: 'whsec_c2VjcmV0LXRoYXQtc2lnbnMtdGhlLWV2ZW50cw==' },
  }),
});

const statusSchema = Type.Object({
  host: Type.String(),
  state: oneOf<string>(['pending', 'active', 'ended']),
  endsAt: Type.String({
    description: 'The time at which the watch ended, or will end if it is not renewed.',
  }),
  nextLookAt: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The time of the next check, hourly or daily; null if none is planned.',
  }),
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

type SecretRoute = {
  readonly path: string;
  readonly offer: 'watchStatus' | 'watchTest' | 'watchStop';
  readonly summary: string;
  readonly description: string;
  readonly otherErrors: readonly ErrorCode[];
  readonly method: 'status' | 'test' | 'stop';
};

const SECRET_ROUTES: readonly SecretRoute[] = [
  {
    path: '/v1/watch/status',
    offer: 'watchStatus',
    summary: 'The state of a watch and its newest deliveries',
    description: 'A wrong secret and a host without a watch get the same 403.',
    otherErrors: [],
    method: 'status',
  },
  {
    path: '/v1/watch/test',
    offer: 'watchTest',
    summary: 'Send a test event to the webhook of a watch',
    description:
      'Sends watch.test after all waiting events. The answer is 409 until the receiver has agreed.',
    otherErrors: ['not_agreed'],
    method: 'test',
  },
  {
    path: '/v1/watch/stop',
    offer: 'watchStop',
    summary: 'End a watch',
    description:
      'The service sends no more requests to the host, and no more events. It deletes the data of the watch after 30 days.',
    otherErrors: [],
    method: 'stop',
  },
];

export const watchRoutes: FastifyPluginAsyncTypebox<WatchRouteContext> = async (app, parts) => {
  const { ownerWatches } = parts;
  const { offers } = parts.config.revision;
  if (offers.watch === undefined) return;
  app.post(
    '/v1/watch',
    {
      config: { offer: offers.watch },
      schema: {
        operationId: 'watch',
        tags: ['ownership'],
        summary: 'Watch your host: get a webhook when something breaks (verified owners)',
        description:
          'Watches a host whose listing you may change, for 30 days. The watch renews itself while you serve the verification file. Events are signed as Standard Webhooks. A second call replaces the watch and its secret: once in ten minutes if the receiver had agreed, else three times; more calls get 429 with Retry-After. Waiting events go to the new receiver when it agrees. The answer is 409 if the domain has five watches, if the receiver has 100, or if three of yours or of the domain are not agreed to.',
        body: createBody,
        response: {
          200: Type.Object({
            host: Type.String(),
            secret: Type.String({
              description: 'The secret that signs the events. No other answer shows it.',
            }),
            endsAt: Type.String(),
            feedUrl: Type.String({ description: 'Atom feed of the published history.' }),
          }),
          ...errorResponses(
            'invalid_url',
            ...BODY_ERRORS,
            'not_verified',
            'not_your_proof',
            'too_many_watches',
            ...STORE_ERRORS,
          ),
        },
      },
    },
    async ({ body, ip }, reply) => {
      reply.header('cache-control', 'no-store');
      const { url, ...settings } = body;
      return ownerWatches.create(parseRequestedOrigin(url, parts), toClient(ip), settings);
    },
  );
  for (const { path, offer: name, method, otherErrors, ...texts } of SECRET_ROUTES) {
    const offer = offers[name];
    if (offer === undefined) continue;
    const response: Record<string, TSchema> = {
      200: statusSchema,
      ...errorResponses(
        'invalid_url',
        ...BODY_ERRORS,
        'not_your_watch',
        ...otherErrors,
        ...STORE_ERRORS,
      ),
    };
    const schema = { operationId: name, tags: ['ownership'], ...texts, body: secretBody, response };
    app.post(path, { config: { offer }, schema }, async ({ body }, reply) => {
      reply.header('cache-control', 'no-store');
      return ownerWatches[method](parseRequestedOrigin(body.url, parts), body.secret);
    });
  }
};
