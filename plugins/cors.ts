/** Cross-origin requests. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import answerHeaders from './answer-headers.ts';

/** Any page may call the API, without credentials; official clients read these headers. */
const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': [
    'PAYMENT-REQUIRED',
    'PAYMENT-RESPONSE',
    'X-PAYMENT-RESPONSE',
    'X-Redelivered',
    'Retry-After',
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
  ].join(', '),
} as const;

/** Answers of any OPTIONS: official clients send these headers. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
  'access-control-allow-headers': [
    'PAYMENT-SIGNATURE',
    'X-PAYMENT',
    'Content-Type',
    'Access-Control-Expose-Headers',
    'Payment-Retry',
    // Clients of /mcp say with each call which version they speak.
    'MCP-Protocol-Version',
  ].join(', '),
  'access-control-max-age': '86400',
  // Safari waits for a body where a 204 does not say that there is none.
  'content-length': '0',
} as const;

/** The headers are texts: `@fastify/cors` makes its options anew for each request. */
export default fp(
  async (app: FastifyInstance) => {
    await app.register(answerHeaders);
    app.addAnswerHeaders(CORS_HEADERS);
    app.addHook('onRequest', ({ method }, reply, next) => {
      // Any OPTIONS is answered 204: it neither runs nor costs anything.
      if (method !== 'OPTIONS') return next();
      reply.code(204).headers(PREFLIGHT_HEADERS).send();
    });
    // The router takes OPTIONS at every path, and the hook answers.
    app.options('*', { schema: { hide: true } }, (_request, reply) => reply.code(204).send());
  },
  { name: 'cors' },
);
