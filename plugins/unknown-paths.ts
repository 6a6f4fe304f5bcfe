import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { InvalidPath, MethodNotAllowed, NotFound } from '../src/model/errors.ts';

/** Far above the longest path that we print; the router's cost grows with the length. */
export const MAX_PATH_CHARS = 512;

/**
 * Replaces paths that no route may see; no request line can name it, because it has a space. The router
 * would answer a path that it cannot decode without hooks, and so without rate limit and headers. A proxy
 * may read an ambiguous path as another one.
 */
const NOWHERE = '/path nowhere';
const UNDECODABLE = '/path undecodable';

/** Rewrites URLs before the router sees them, as Fastify's `rewriteUrl`. */
export function routableUrl({ url = '/' }: { readonly url?: string | undefined }): string {
  const end = url.slice(0, MAX_PATH_CHARS + 1).indexOf('?');
  if (end === -1 && url.length > MAX_PATH_CHARS) return NOWHERE;
  const path = end === -1 ? url : url.slice(0, end);
  if (isAmbiguous(path)) return NOWHERE;
  return isDecodable(path) ? url : UNDECODABLE;
}

/** Answers 404, 405, and 400 to paths that cannot be decoded. */
export default fp(
  async (app: FastifyInstance) => {
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

/** True for encoded separators, backslashes, dot segments and doubled slashes. */
function isAmbiguous(path: string): boolean {
  return /\/\/|\\|%2f|%5c|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}
