import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { InvalidPath, MethodNotAllowed, NotFound } from '../src/errors/errors.ts';

/** Our links have far shorter paths. The limit exists because the router's cost grows with the length of a path. */
export const MAX_PATH_CHARS = 512;

/**
 * `toRoutableUrl` replaces a path by one of these, which have no route. A client cannot send these paths, because
 * they contain a space. The router itself would answer an undecodable path without our rate limits and headers.
 */
const UNKNOWN_PATH = '/path nowhere';
const UNDECODABLE_PATH = '/path undecodable';

/** Replaces a URL whose path is too long, ambiguous or undecodable. Fastify calls this as `rewriteUrl`. */
export function toRoutableUrl({ url = '/' }: { readonly url?: string | undefined }): string {
  const pathEnd = url.slice(0, MAX_PATH_CHARS + 1).indexOf('?');
  if (pathEnd === -1 && url.length > MAX_PATH_CHARS) return UNKNOWN_PATH;
  const path = pathEnd === -1 ? url : url.slice(0, pathEnd);
  if (isAmbiguous(path)) return UNKNOWN_PATH;
  return isDecodable(path) ? url : UNDECODABLE_PATH;
}

/** Answers requests without a route: 400 if the path cannot be decoded, else 405 or 404. */
export default fp(
  async (app: FastifyInstance) => {
    app.setNotFoundHandler((request) => {
      if (request.url === UNDECODABLE_PATH) throw new InvalidPath();
      const allowed = app.findAllowedMethods(request.url);
      const isWrongMethod = allowed.length > 0 && !allowed.includes(request.method);
      throw isWrongMethod ? new MethodNotAllowed(allowed) : new NotFound();
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

/**
 * True for a path with an encoded slash or backslash, a backslash, a dot segment or a doubled slash. A proxy
 * may read such a path as another path.
 */
function isAmbiguous(path: string): boolean {
  return /\/\/|\\|%2f|%5c|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}
