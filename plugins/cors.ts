import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/** Lets any page call the API, without credentials. The lists hold the headers that official clients use. */
export default fp(
  async (app: FastifyInstance) => {
    await app.register(cors, {
      origin: '*',
      methods: ['GET', 'HEAD', 'POST', 'OPTIONS'],
      allowedHeaders: [
        'PAYMENT-SIGNATURE',
        'X-PAYMENT',
        'Content-Type',
        'Access-Control-Expose-Headers',
        'Payment-Retry',
        // MCP clients send their protocol version with each call.
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
      // Also answers 204 to an OPTIONS request that is not a CORS preflight.
      strictPreflight: false,
    });
  },
  { name: 'cors' },
);
