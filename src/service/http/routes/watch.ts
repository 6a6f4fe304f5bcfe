import type { FastifyPluginAsync } from 'fastify';
import { Type } from 'typebox';
import { oneOf } from '../../../scanner/model/shapes.ts';
import { nullableText, STORE_ERRORS } from './answer-schema.ts';
import { offerToOwner } from './ownership.ts';
import {
  listingKeyParameter,
  OPENAPI_URL,
  type RouteContext,
  urlParameter,
} from './route-context.ts';

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
    method: 'status',
    url: '/v1/watch/status',
    summary: 'The state of a watch and its newest deliveries',
    description: 'A wrong secret and a host without a watch get the same 403.',
    errors: ['not_your_watch', ...STORE_ERRORS],
  },
  {
    operation: 'watchTest',
    method: 'test',
    url: '/v1/watch/test',
    summary: 'Send a test event to the webhook of a watch',
    description:
      'Sends watch.test after all waiting events. The answer is 409 until the receiver has agreed.',
    errors: ['not_your_watch', 'not_agreed', ...STORE_ERRORS],
  },
  {
    operation: 'watchStop',
    method: 'stop',
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
    body: createBody,
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
  for (const { operation, method, ...route } of SECRET_ROUTES) {
    offerToOwner(app, parts, operation, {
      ...route,
      body: secretBody,
      answer: statusSchema,
      handle: (origin, _client, { secret }) => ownerWatches[method](origin, secret),
    });
  }
};
