import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import {
  InvalidHost,
  InvalidJson,
  InvalidQuery,
  UnsupportedMediaType,
} from '../src/service/errors/errors.ts';

const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Refuses requests that two parsers could read differently, and bodies with members such as `__proto__`. */
export default fp(
  async (app: FastifyInstance) => {
    app.addHook('onRequest', async ({ raw }) => {
      // In `rawHeaders`, each name is followed by its value.
      const names = raw.rawHeaders.filter((_text, index) => index % 2 === 0);
      const hostCount = names.filter((name) => name.toLowerCase() === 'host').length;
      const isHostOptional = raw.httpVersion === '1.0';
      if (hostCount > 1 || (hostCount === 0 && !isHostOptional)) throw new InvalidHost();
    });
    const parseJson = app.getDefaultJsonParser('error', 'error');
    // Fastify's default parser would call a compressed body invalid JSON.
    app.addContentTypeParser<string>(
      'application/json',
      { parseAs: 'string' },
      (request, body, done) => {
        const { 'content-encoding': encoding = 'identity' } = request.headers;
        if (encoding.toLowerCase() !== 'identity') return done(new UnsupportedMediaType());
        parseJson(request, body, done);
      },
    );
    // This hook runs after the payment gate, which answers 402 to any input.
    app.addHook('preValidation', async ({ raw, body }) => {
      refuseAmbiguousQuery(raw.url ?? '');
      refuseForbiddenMembers(body);
    });
  },
  { name: 'request-guard', dependencies: ['errors'] },
);

function refuseAmbiguousQuery(url: string): void {
  const start = url.indexOf('?');
  if (start === -1) return;
  const seenNames = new Set<string>();
  for (const name of readNames(url.slice(start + 1))) {
    if (/[[\]]/.test(name)) throw new InvalidQuery('The name of a query parameter has a bracket.');
    if (PROTOTYPE_KEYS.has(name)) throw new InvalidQuery('A query parameter has a forbidden name.');
    if (seenNames.has(name)) throw new InvalidQuery('A query parameter is repeated.');
    seenNames.add(name);
  }
}

/** Needed because the JSON parser refuses only `__proto__`, and a `constructor` that holds a `prototype`. */
function refuseForbiddenMembers(body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  for (const name of PROTOTYPE_KEYS) {
    if (Object.hasOwn(body, name)) throw new InvalidJson('The body holds a forbidden key.');
  }
}

/** Lists the names of a query. Decodes only a query that may be encoded, as decoding can cost more than the answer. */
function readNames(query: string): Iterable<string> {
  const names = query.split('&').map((part) => part.split('=', 1)[0] ?? '');
  const arePlain = names.every((name) => /^\w+$/.test(name));
  return arePlain ? names : new URLSearchParams(query).keys();
}
