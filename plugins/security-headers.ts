/** Headers that tell browsers what our pages may do. */
import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/** Pages load their own styles, scripts and images, and nothing else; nobody frames them. */
export default fp(
  async (app: FastifyInstance) => {
    await app.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          styleSrc: ["'self'"],
          scriptSrc: ["'self'"],
          imgSrc: ["'self'"],
          connectSrc: ["'self'"],
          formAction: ["'self'"],
          baseUri: ["'none'"],
          frameAncestors: ["'none'"],
        },
      },
      // For what is older than frame-ancestors.
      xFrameOptions: { action: 'deny' },
      // A service may share its domain with others, who have not promised https.
      strictTransportSecurity: { includeSubDomains: false },
      referrerPolicy: { policy: 'no-referrer' },
      // Badges and icons are there to be shown on other sites.
      crossOriginResourcePolicy: { policy: 'cross-origin' },
    });
  },
  { name: 'security-headers' },
);
