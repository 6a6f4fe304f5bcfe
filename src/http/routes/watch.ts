import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type TSchema, Type } from 'typebox';
import { toClient } from '../../limits/client-key.ts';
import type { ErrorCode } from '../../model/error-codes.ts';
import type { OwnerWatches } from '../../watch/owner-watches.ts';
import { BODY_ERRORS, errorResponses, STORE_ERRORS } from './error-schema.ts';
import type { RouteContext } from './route-context.ts';
import {
  DOCUMENTED_URL,
  listingKeyParameter,
  requestedOrigin,
  urlParameter,
} from './url-parameter.ts';

export type WatchRouteContext = RouteContext & { readonly ownerWatches: OwnerWatches };

const createBody = Type.Object({
  url: urlParameter,
  webhook: Type.String({
    description:
      'The https URL that events are posted to. It agrees by its answer to watch.started.',
    documented: { ...DOCUMENTED_URL, example: 'https://hooks.example.com/x402' },
  }),
  listingKey: listingKeyParameter,
});

const secretBody = Type.Object({
  url: urlParameter,
  secret: Type.String({
    maxLength: 128,
    description: 'The secret that POST /v1/watch answered.',
    documented: { example: 'whsec_c2VjcmV0LXRoYXQtc2lnbnMtdGhlLWV2ZW50cw==' },
  }),
});

const statusSchema = Type.Object({
  host: Type.String(),
  state: Type.Unsafe<string>({ type: 'string', enum: ['pending', 'active', 'ended'] }),
  endsAt: Type.String({ description: 'When it ends unless it is renewed, or when it ended.' }),
  nextLookAt: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The time of the next check, hourly or daily; null if none is planned.',
  }),
  deliveries: Type.Array(
    Type.Object({
      id: Type.String({ description: 'The webhook-id of every try.' }),
      type: Type.String(),
      at: Type.String(),
      tries: Type.Integer(),
      status: Type.Unsafe<string>({ type: 'string', enum: ['waiting', 'delivered', 'failed'] }),
    }),
    { description: 'The newest 20, newest first.' },
  ),
});

type SecretRoute = {
  readonly path: string;
  readonly offer: 'watchStatus' | 'watchTest' | 'watchStop';
  readonly summary: string;
  readonly description: string;
  readonly further: readonly ErrorCode[];
  readonly method: 'status' | 'test' | 'stop';
};

const SECRET_ROUTES: readonly SecretRoute[] = [
  {
    path: '/v1/watch/status',
    offer: 'watchStatus',
    summary: 'State of a watch and its newest deliveries',
    description: 'The answer is the same 403 if the secret is wrong and if there is no watch.',
    further: [],
    method: 'status',
  },
  {
    path: '/v1/watch/test',
    offer: 'watchTest',
    summary: 'Have a test event sent to the webhook of a watch',
    description: 'Sends watch.test, after the events that wait. 409 before the receiver agreed.',
    further: ['not_agreed'],
    method: 'test',
  },
  {
    path: '/v1/watch/stop',
    offer: 'watchStop',
    summary: 'End a watch',
    description:
      'Ends the watch: no more requests and no more events. Its data are deleted after 30 days.',
    further: [],
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
        summary: 'Watch a host of yours: events by webhook when something breaks (verified owners)',
        description:
          'Watches a host whose listing you may change, for 30 days. The watch renews itself while you serve the verification file. Events are signed as Standard Webhooks. A second call replaces watch and secret: once in ten minutes if the receiver had agreed, three times if not (429 with Retry-After beyond that). Waiting events go to the new receiver once it agrees. 409: the domain has five watches, the receiver 100, or three of yours or of the domain wait for a receiver.',
        body: createBody,
        response: {
          200: Type.Object({
            host: Type.String(),
            secret: Type.String({
              description: 'The secret that signs the events. It is shown only here.',
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
      return ownerWatches.create(requestedOrigin(url, parts), toClient(ip), settings);
    },
  );
  for (const { path, offer: name, method, further, ...described } of SECRET_ROUTES) {
    const offer = offers[name];
    if (offer === undefined) continue;
    const response: Record<string, TSchema> = {
      200: statusSchema,
      ...errorResponses(
        'invalid_url',
        ...BODY_ERRORS,
        'not_your_watch',
        ...further,
        ...STORE_ERRORS,
      ),
    };
    const schema = {
      operationId: name,
      tags: ['ownership'],
      ...described,
      body: secretBody,
      response,
    };
    app.post(path, { config: { offer }, schema }, async ({ body }, reply) => {
      reply.header('cache-control', 'no-store');
      return ownerWatches[method](requestedOrigin(body.url, parts), body.secret);
    });
  }
};
