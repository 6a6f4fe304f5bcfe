/**
 * Gives the packages that import viem the part of it that a trial can use: half of the time that they
 * take to load is what talks to chains. Imported before them, for its effect; a bundle has left it out.
 */
import { registerHooks } from 'node:module';

const LEAN = import.meta.resolve('./viem-without-chains.ts');

if (import.meta.url.endsWith('.ts')) {
  registerHooks({
    resolve: (specifier, context, next) => next(specifier === 'viem' ? LEAN : specifier, context),
  });
}
