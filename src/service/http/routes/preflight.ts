import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { OFFER_VERDICTS, PAYABLE_BY } from '../../../scanner/model/payability.ts';
import { nullable, oneOf, otherWays, text } from '../../../scanner/model/shapes.ts';
import {
  type Preflight,
  type ReasonCode,
  VERDICT_BY_REASON,
  VERDICTS,
} from '../../../scanner/preflight/result.ts';
import { toClient } from '../../turns/client-key.ts';
import { BODY_ERRORS, errorResponses, STORE_ERRORS } from './answer-schema.ts';
import type { RouteContext } from './route-context.ts';

const preflightBody = Type.Object({
  url: Type.String({
    maxLength: 2_048,
    description:
      'The https URL that you would pay, with its path and query. For any other text the answer is no-go with the reason refused.',
    documented: { example: 'https://api.example.com/weather' },
  }),
  method: Type.Optional(
    oneOf(
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      'The default is GET. For other methods the answer comes from stored reports: the service never sends such requests.',
      { example: 'GET' },
    ),
  ),
  maxPrice: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,30}([.][0-9]{1,30})?$',
      description:
        'The most that you would pay, in whole units of the asset, such as "0.05". A higher price is a no-go.',
      documented: { example: '0.05' },
    }),
  ),
});

export const preflightRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { preflight },
) => {
  app.offer('preflight', {
    method: 'POST',
    url: '/v1/preflight',
    schema: {
      tags: ['scanning'],
      summary: 'Ask if an agent should pay a URL: go, caution or no-go',
      description:
        'Asks the URL at most once, by GET and without a payment, and judges its challenge by check P3 and by the official clients. If the URL does not answer within a second, the verdict is caution.',
      body: preflightBody,
      response: { 200: preflightSchema, ...errorResponses(...BODY_ERRORS, ...STORE_ERRORS) },
    },
    handler: async ({ body: { url, method = 'GET', maxPrice = null }, ip }) =>
      preflight.judgeUrl({ url, method, maxPrice, client: toClient(ip) }),
  });
};

const textOrNull = nullable(text);
const reasonCodes = Object.keys(VERDICT_BY_REASON) as ReasonCode[]; // the keys of a closed record

const preflightSchema = Type.Unsafe<Preflight>(
  Type.Object(
    {
      verdict: oneOf(VERDICTS, 'Says whether to pay.'),
      reasons: Type.Array(
        Type.Object({
          code: oneOf(reasonCodes, 'A stable code: programs may decide by it.'),
          evidence: Type.String({ description: 'It may quote text of the seller.' }),
        }),
      ),
      terms: nullable(
        Type.Object({
          x402Version: nullable(Type.Integer()),
          resourceUrl: textOrNull,
          payableBy: nullable(
            oneOf(
              PAYABLE_BY,
              'The clients that can pay: those with default settings, only those with changed settings, or nobody.',
            ),
          ),
          offers: Type.Array(
            Type.Object({
              pointer: Type.String({
                description: 'JSON pointer into the challenge, such as "/accepts/0".',
              }),
              scheme: textOrNull,
              network: textOrNull,
              asset: textOrNull,
              amount: nullable(Type.String({ description: 'In base units of the asset.' })),
              payTo: textOrNull,
              maxTimeoutSeconds: nullable(Type.Number()),
              price: nullable(
                Type.String({ description: 'Such as "0.05 USDC"; null for an unknown asset.' }),
              ),
              isTestnet: Type.Boolean(),
              client: nullable(
                oneOf(OFFER_VERDICTS, 'Verdict of the official client on this offer.'),
              ),
            }),
          ),
        }),
      ),
      otherWays: Type.Optional(otherWays),
      termsDigest: nullable(
        Type.String({ description: 'A hash of the terms. Equal terms have the same hash.' }),
      ),
    },
    { description: 'Says whether to pay, gives the reasons, and lists the offered terms.' },
  ),
);
