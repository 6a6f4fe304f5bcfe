/** Our answers to pages of other origins are those that `@fastify/cors` would give. */
import libraryCors from '@fastify/cors';
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify';
import { expect, test } from 'vitest';
import cors from '../../plugins/cors.ts';

const OPTIONS = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST', 'OPTIONS'],
  allowedHeaders: [
    'PAYMENT-SIGNATURE',
    'X-PAYMENT',
    'Content-Type',
    'Access-Control-Expose-Headers',
    'Payment-Retry',
    'MCP-Protocol-Version',
  ],
  exposedHeaders: [
    'PAYMENT-REQUIRED',
    'PAYMENT-RESPONSE',
    'X-PAYMENT-RESPONSE',
    'X-Redelivered',
    'Retry-After',
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
  ],
  maxAge: 86_400,
  strictPreflight: false,
};

const PREFLIGHT = {
  origin: 'https://agent.example',
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'payment-signature,content-type',
};

test.each([
  ['GET', '/', PREFLIGHT],
  ['GET', '/', {}],
  ['HEAD', '/', PREFLIGHT],
  ['POST', '/', PREFLIGHT],
  ['GET', '/nothing', PREFLIGHT],
  ['GET', '/fails', PREFLIGHT],
  ['OPTIONS', '/', PREFLIGHT],
  ['OPTIONS', '/', {}],
  ['OPTIONS', '/nothing', PREFLIGHT],
  ['OPTIONS', '*', {}],
] as const)('%s %s', async (method, url, headers) => {
  const [ours, librarys] = [Fastify(), Fastify()];
  await ours.register(cors);
  await librarys.register(libraryCors, OPTIONS);
  const answers = await Promise.all(
    [ours, librarys].map((app) => answerOf(app, { method, url, headers: { ...headers } })),
  );
  expect(answers[0]).toEqual(answers[1]);
});

async function answerOf(app: FastifyInstance, request: InjectOptions) {
  app.route({ method: ['GET', 'POST'], url: '/', handler: async () => ({ status: 'ok' }) });
  app.get('/fails', async () => {
    throw new Error('fails');
  });
  const { statusCode, headers, body } = await app.inject(request);
  await app.close();
  const { date: _date, ...fixed } = headers;
  return { statusCode, fixed, body };
}
