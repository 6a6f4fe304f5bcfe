import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

declare module 'fastify' {
  interface FastifyInstance {
    /** Methods that have a route at the path of this URL, sorted; empty where there is none. */
    allowedMethods(url: string): string[];
  }
}

/** Knows which methods a path takes, for the `Allow` of a 405. */
export default fp(
  async (app: FastifyInstance) => {
    const methodsByPattern = new Map<string, Set<string>>();
    app.addHook('onRoute', ({ url, method }) => {
      // The catch-all that answers CORS preflights is no resource.
      if (url === '*' || url === '/*') return;
      const methods = methodsByPattern.get(url) ?? new Set();
      for (const name of [method].flat()) methods.add(name);
      methodsByPattern.set(url, methods);
    });
    app.decorate('allowedMethods', (url) => {
      const path = url.split('?', 1)[0] ?? '';
      const matching = [...methodsByPattern].filter(([pattern]) => matches(pattern, path));
      return [...new Set(matching.flatMap(([, methods]) => [...methods]))].sort();
    });
  },
  { name: 'allowed-methods' },
);

/** A segment that begins with a colon stands for any one segment. */
function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/');
  const segments = path.split('/');
  return (
    expected.length === segments.length &&
    expected.every((part, index) => {
      const segment = segments[index] ?? '';
      return part.startsWith(':') ? segment !== '' : part === segment;
    })
  );
}
