import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import {
  InvalidHost,
  InvalidJson,
  InvalidQuery,
  UnsupportedMediaType,
} from '../src/model/errors.ts';

const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Refuses requests that two parsers could read differently, and members such as `__proto__`. */
export default fp(
  async (app: FastifyInstance) => {
    app.addHook('onRequest', async ({ raw }) => {
      const lines = raw.rawHeaders.filter((_text, index) => index % 2 === 0);
      const hosts = lines.filter((name) => name.toLowerCase() === 'host').length;
      // HTTP/1.0 does not require Host.
      if (hosts > 1 || (hosts === 0 && raw.httpVersion !== '1.0')) throw new InvalidHost();
    });
    const parseJson = app.getDefaultJsonParser('error', 'error');
    // A parser of our own keeps the text: bodies of paid routes are validated only after the 402.
    app.addContentTypeParser<string>(
      'application/json',
      { parseAs: 'string' },
      (request, body, done) => {
        const { 'content-encoding': encoding = 'identity' } = request.headers;
        if (encoding.toLowerCase() !== 'identity') return done(new UnsupportedMediaType());
        parseJson(request, body, done);
      },
    );
    // Runs after the payment gate, which answers 402 to any input.
    app.addHook('preValidation', ({ raw, body }, _reply, next) => {
      try {
        refuseAmbiguousQuery(raw.url ?? '');
        refuseForbiddenMembers(body);
      } catch (error) {
        return next(error instanceof Error ? error : new Error(String(error)));
      }
      next();
    });
  },
  { name: 'request-guard', dependencies: ['errors'] },
);

function refuseAmbiguousQuery(url: string): void {
  const start = url.indexOf('?');
  if (start === -1) return;
  const seen = new Set<string>();
  for (const name of namesIn(url.slice(start + 1))) {
    if (/[[\]]/.test(name)) throw new InvalidQuery('A query parameter is bracketed.');
    if (PROTOTYPE_KEYS.has(name)) throw new InvalidQuery('A query parameter has a forbidden name.');
    if (seen.has(name)) throw new InvalidQuery('A query parameter is repeated.');
    seen.add(name);
  }
}

/** The parser refuses `__proto__`, and `constructor` if it holds a prototype; no member has the name. */
function refuseForbiddenMembers(body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  for (const name of PROTOTYPE_KEYS) {
    if (Object.hasOwn(body, name)) throw new InvalidJson('The body holds a forbidden key.');
  }
}

/** Decodes only queries that may hold an encoded name; decoding every query costs more than the answer. */
function namesIn(query: string): Iterable<string> {
  const names = query.split('&').map((part) => part.split('=', 1)[0] ?? '');
  const arePlain = names.every((name) => /^\w+$/.test(name));
  return arePlain ? names : new URLSearchParams(query).keys();
}
