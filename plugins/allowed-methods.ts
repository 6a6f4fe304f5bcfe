/** Finds the methods of a path, for the `Allow` header of a 405. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

declare module 'fastify' {
  interface FastifyInstance {
    /** Finds the methods that have a route at the path of this URL, sorted; empty if the path has no route. */
    findAllowedMethods(url: string): string[];
  }
}

/** A registered path such as `/checks/:id`, split at its slashes. */
type PathPattern = { readonly segments: readonly string[]; readonly methods: Set<string> };

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
    app.decorate('findAllowedMethods', (url) => {
      const segments = (url.split('?', 1)[0] ?? '').split('/');
      const matching = [...patterns.values()].filter((pattern) => matchesPath(pattern, segments));
      return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
    });
  },
  { name: 'allowed-methods' },
);

/** A segment of the pattern that begins with a colon matches any segment that is not empty. */
function matchesPath(pattern: PathPattern, segments: readonly string[]): boolean {
  return (
    pattern.segments.length === segments.length &&
    pattern.segments.every((expected, index) =>
      expected.startsWith(':') ? segments[index] !== '' : expected === segments[index],
    )
  );
}
