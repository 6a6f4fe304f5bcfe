/**
 * Answers 404 and 405. Both cost a caller of a bucket of their own: a path that nothing is at is
 * the one thing that is free to make up.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { clientKey } from '../src/directory/client-key.ts';
import { MethodNotAllowed, NotFound } from '../src/errors/errors.ts';

/** None that we print comes near; longer ones cost the router and every pattern their length. */
const MAX_PATH_CHARS = 512;
const PER_MINUTE = 60;
/** Stands in for a path that is too long, so that nothing ever looks at it. */
const TOO_LONG = '/path-too-long';

type Limiter = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Rewrites URLs before the router sees them, as Fastify's `rewriteUrl`. */
export function shortUrl({ url = '/' }: { readonly url?: string | undefined }): string {
  const end = url.slice(0, MAX_PATH_CHARS + 1).indexOf('?');
  return end === -1 && url.length > MAX_PATH_CHARS ? TOO_LONG : url;
}

export default fp(
  async (app: FastifyInstance) => {
    const limit = limiterOf(app);
    app.addHook('onRequest', (request, reply, next) => {
      const isAmbiguous = isAmbiguousPath((request.raw.url ?? '').split('?', 1)[0] ?? '');
      if (!request.is404 && !isAmbiguous) return next();
      const limited = limit?.(request, reply) ?? Promise.resolve();
      limited.then(() => next(isAmbiguous ? new NotFound() : undefined), next);
    });
    app.setNotFoundHandler((request) => {
      const allowed = app.allowedMethods(request.url);
      const isKnown = allowed.length > 0 && !allowed.includes(request.method);
      throw isKnown ? new MethodNotAllowed(allowed) : new NotFound();
    });
  },
  { name: 'unknown-paths', dependencies: ['allowed-methods', 'errors'] },
);

/** Null where rates are not limited. */
function limiterOf(app: FastifyInstance): Limiter | null {
  if (!app.hasDecorator('rateLimit')) return null;
  const limiter = app.rateLimit({
    max: PER_MINUTE,
    keyGenerator: (request) => `unknown ${clientKey(request.ip)}`,
  });
  return async (request, reply) => limiter.call(app, request, reply);
}

/** Encoded or raw separators, dot segments, doubled slashes: a proxy may see another path in them. */
function isAmbiguousPath(path: string): boolean {
  return /\/\/|\\|%2f|%5c|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}
