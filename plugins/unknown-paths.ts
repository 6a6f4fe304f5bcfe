/**
 * Answers 404, 405, and 400 to paths that cannot be decoded. All cost a caller of a bucket of their own: a path that nothing is at is
 * the one thing that is free to make up.
 */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { InvalidPath, MethodNotAllowed, NotFound } from '../src/model/errors.ts';

/** None that we print comes near; longer ones cost the router and every pattern their length. */
export const MAX_PATH_CHARS = 512;
const PER_MINUTE = 60;
/** Stands in for a path that is too long, so that nothing ever looks at it. */
const TOO_LONG = '/path-too-long';
/**
 * Stands in for a path that cannot be decoded: the router answers those without any hook, and so
 * without limit or headers. The space keeps every request line from naming it.
 */
const UNDECODABLE = '/path undecodable';

/** Rewrites URLs before the router sees them, as Fastify's `rewriteUrl`. */
export function routableUrl({ url = '/' }: { readonly url?: string | undefined }): string {
  const end = url.slice(0, MAX_PATH_CHARS + 1).indexOf('?');
  if (end === -1 && url.length > MAX_PATH_CHARS) return TOO_LONG;
  return isDecodable(end === -1 ? url : url.slice(0, end)) ? url : UNDECODABLE;
}

export default fp(
  async (app: FastifyInstance) => {
    const limit = app.limitRate?.({
      max: () => PER_MINUTE,
      bucket: (_request, client) => `unknown ${client}`,
    });
    app.addHook('onRequest', function limitUnknown(request, reply, next) {
      const isAmbiguous = isAmbiguousPath(request.raw.url ?? '');
      if (!request.is404 && !isAmbiguous) return next();
      const end = (error?: Error) => next(error ?? (isAmbiguous ? new NotFound() : undefined));
      if (limit === undefined) return end();
      limit.call(app, request, reply, end);
    });
    app.setNotFoundHandler((request) => {
      if (request.url === UNDECODABLE) throw new InvalidPath();
      const allowed = app.allowedMethods(request.url);
      const isKnown = allowed.length > 0 && !allowed.includes(request.method);
      throw isKnown ? new MethodNotAllowed(allowed) : new NotFound();
    });
  },
  { name: 'unknown-paths', dependencies: ['allowed-methods', 'errors'] },
);

function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURI(path);
    return true;
  } catch {
    return false;
  }
}

/** Encoded or raw separators, dot segments, doubled slashes: a proxy may see another path in them. */
function isAmbiguousPath(url: string): boolean {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  return /\/\/|\\|%2f|%5c|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}
