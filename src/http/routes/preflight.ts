import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { toClient } from '../../directory/client-key.ts';
import { BODY_ERRORS, errorResponses, STORE_ERRORS } from './error-schema.ts';
import { preflightSchema } from './preflight-schema.ts';
import type { RouteContext } from './route-context.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const preflightBody = Type.Object({
  url: Type.String({
    maxLength: 2_048,
    description:
      'The https URL that is going to be paid, path and query too. Any other text is a no-go, refused.',
    documented: { example: 'https://api.example.com/weather' },
  }),
  method: Type.Optional(
    Type.Unsafe<(typeof METHODS)[number]>({
      type: 'string',
      enum: [...METHODS],
      description: 'Default GET. Other methods are answered from stored reports, never sent.',
      documented: { example: 'GET' },
    }),
  ),
  maxPrice: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,30}([.][0-9]{1,30})?$',
      description: 'In whole units of the asset, such as "0.05": dearer is a no-go.',
      documented: { example: '0.05' },
    }),
  ),
});

export const preflightRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { config, preflight },
) => {
  const offer = config.revision.offers.preflight;
  if (offer === undefined) return;
  app.post(
    '/v1/preflight',
    {
      config: { offer },
      schema: {
        operationId: 'preflight',
        tags: ['scanning'],
        summary: 'Whether to pay a URL: go, caution or no-go',
        description:
          'Asks the URL at most once, by GET and without a payment, and judges its challenge by P3 and by the official clients. What does not answer within a second is caution.',
        body: preflightBody,
        response: {
          200: preflightSchema,
          ...errorResponses(...BODY_ERRORS, ...STORE_ERRORS),
        },
      },
    },
    async ({ body: { url, method = 'GET', maxPrice = null }, ip }) =>
      preflight.askUrl({ url, method, maxPrice, client: toClient(ip) }),
  );
};
