/** Knows which methods a path takes, for the `Allow` of a 405. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

declare module 'fastify' {
  interface FastifyInstance {
    /** Methods that have a route at the path of this URL, sorted; empty if there is none. */
    allowedMethods(url: string): string[];
  }
}

type Pattern = { readonly segments: readonly string[]; readonly methods: Set<string> };

export default fp(
  async (app: FastifyInstance) => {
    const patterns = new Map<string, Pattern>();
    app.addHook('onRoute', ({ url, method }) => {
      // The catch-all that answers CORS preflights is not a resource.
      if (url === '*' || url === '/*') return;
      const pattern = patterns.get(url) ?? { segments: url.split('/'), methods: new Set() };
      for (const name of [method].flat()) pattern.methods.add(name);
      patterns.set(url, pattern);
    });
    app.decorate('allowedMethods', (url) => {
      const segments = (url.split('?', 1)[0] ?? '').split('/');
      const matching = [...patterns.values()].filter((pattern) => matches(pattern, segments));
      return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
    });
  },
  { name: 'allowed-methods' },
);

/** A segment that begins with a colon stands for any one segment. */
function matches({ segments: expected }: Pattern, segments: readonly string[]): boolean {
  return (
    expected.length === segments.length &&
    expected.every((part, index) => {
      const segment = segments[index] ?? '';
      return part.startsWith(':') ? segment !== '' : part === segment;
    })
  );
}
