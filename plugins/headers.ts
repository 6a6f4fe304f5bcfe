import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { SCRIPT, STYLES } from './views.ts';

/** CORS lets any page call the API without credentials. Official clients send and read the listed headers. */
export default fp(
  async (app: FastifyInstance) => {
    await app.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          'default-src': ["'none'"],
          'style-src': ["'self'", STYLES.source],
          'script-src': ["'self'", SCRIPT.source],
          'img-src': ["'self'"],
          'connect-src': ["'self'"],
          'form-action': ["'self'"],
          'base-uri': ["'none'"],
          'frame-ancestors': ["'none'"],
        },
      },
      // Other sites embed badges and icons.
      crossOriginResourcePolicy: { policy: 'cross-origin' },
      // Sets X-Frame-Options, for browsers that do not know frame-ancestors.
      frameguard: { action: 'deny' },
      // Subdomains may belong to other people, whose sites may not serve https.
      hsts: { maxAge: 31_536_000, includeSubDomains: false },
    });
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
  { name: 'headers' },
);
