import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { InvalidQuery, NotFound } from '../src/errors/errors.ts';

const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Refuses requests that two readers could understand in two ways: paths that a proxy may normalise
 * into others, and query strings from which readers pick different values.
 */
export default fp(
  async (app: FastifyInstance) => {
    app.addHook('onRequest', async ({ raw }) => {
      if (isAmbiguousPath((raw.url ?? '').split('?', 1)[0] ?? '')) throw new NotFound();
    });
    // After the payment challenge, which is given whatever the input is.
    app.addHook('preValidation', async ({ raw }) => refuseAmbiguousQuery(raw.url ?? ''));
  },
  { name: 'request-guard', dependencies: ['errors'] },
);

/** Encoded or raw separators, dot segments, doubled slashes. */
function isAmbiguousPath(path: string): boolean {
  if (path.includes('//') || /\\|%2f|%5c/i.test(path)) return true;
  return path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

function refuseAmbiguousQuery(url: string): void {
  const start = url.indexOf('?');
  if (start === -1) return;
  const seen = new Set<string>();
  for (const name of new URLSearchParams(url.slice(start + 1)).keys()) {
    if (/[[\]]/.test(name)) throw new InvalidQuery('A query parameter is bracketed.');
    if (PROTOTYPE_KEYS.has(name)) throw new InvalidQuery('A query parameter has a forbidden name.');
    if (seen.has(name)) throw new InvalidQuery('A query parameter is repeated.');
    seen.add(name);
  }
}
