/** Refuses query strings from which two readers could pick different values. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { InvalidQuery } from '../src/errors/errors.ts';

const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export default fp(
  async (app: FastifyInstance) => {
    // After the payment challenge, which is given whatever the input is.
    app.addHook('preValidation', async ({ raw }) => refuseAmbiguousQuery(raw.url ?? ''));
  },
  { name: 'request-guard', dependencies: ['errors'] },
);

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
