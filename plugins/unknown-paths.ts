import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { InvalidPath, MethodNotAllowed, NotFound } from '../src/service/errors/errors.ts';

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

/** A registered path such as `/checks/:id`, split at its slashes. */
type PathPattern = { readonly segments: readonly string[]; readonly methods: Set<string> };

/** Answers requests without a route: 400 for an undecodable path, else 405 or 404. Register it before the routes. */
export default fp(
  async (app: FastifyInstance) => {
    const patterns = new Map<string, PathPattern>();
    app.addHook('onRoute', ({ url, method }) => {
      // The catch-all that answers CORS preflights is not a resource.
      if (url === '*' || url === '/*') return;
      const pattern = patterns.get(url) ?? { segments: url.split('/'), methods: new Set() };
      for (const name of [method].flat()) pattern.methods.add(name);
      patterns.set(url, pattern);
    });
    app.setNotFoundHandler((request) => {
      if (request.url === UNDECODABLE_PATH) throw new InvalidPath();
      const allowed = listMethods([...patterns.values()], request.url);
      throw allowed.length > 0 ? new MethodNotAllowed(allowed) : new NotFound();
    });
  },
  { name: 'unknown-paths', dependencies: ['errors'] },
);

/** Lists the methods that have a route at the path of the URL, sorted; empty if the path has no route. */
function listMethods(patterns: readonly PathPattern[], url: string): string[] {
  const segments = (url.split('?', 1)[0] ?? '').split('/');
  const matching = patterns.filter((pattern) => matchesPath(pattern, segments));
  return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
}

/** A segment of the pattern that begins with a colon matches any segment that is not empty. */
function matchesPath(pattern: PathPattern, segments: readonly string[]): boolean {
  return (
    pattern.segments.length === segments.length &&
    pattern.segments.every((expected, index) =>
      expected.startsWith(':') ? segments[index] !== '' : expected === segments[index],
    )
  );
}

function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURI(path);
    return true;
  } catch {
    return false;
  }
}

/** A proxy may read a path with an encoded slash, a backslash, a dot segment or a doubled slash as another path. */
function isAmbiguous(path: string): boolean {
  return /\/\/|\\|%2f|%5c|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}
