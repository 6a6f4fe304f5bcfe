import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { SCRIPT, STYLES } from './views.ts';

/** Sets security headers. Pages may run only their own style sheet and script, and may not be framed. */
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
  },
  { name: 'security-headers' },
);
