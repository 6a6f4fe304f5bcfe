/** Refuses query strings from which two readers could pick different values, and names of JavaScript's own. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { InvalidJson, InvalidQuery } from '../src/model/errors.ts';

const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export default fp(
  async (app: FastifyInstance) => {
    // After the payment challenge, which is given whatever the input is.
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

/** The parser refuses `__proto__`, and `constructor` where it holds a prototype; no member has the name. */
function refuseForbiddenMembers(body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  for (const name of PROTOTYPE_KEYS) {
    if (Object.hasOwn(body, name)) throw new InvalidJson('The body holds a forbidden key.');
  }
}

/** Decoded only where a name may be encoded: reading every value costs more than the answer. */
function namesIn(query: string): Iterable<string> {
  const names = query.split('&').map((part) => part.split('=', 1)[0] ?? '');
  const arePlain = names.every((name) => /^\w+$/.test(name));
  return arePlain ? names : new URLSearchParams(query).keys();
}
