/**
 * Gives the packages that import viem the part of it that a trial can use: half of the time that they
 * take to load is what talks to chains. Imported before them, for its effect; a bundle has left it out.
 */
import { registerHooks } from 'node:module';

if (import.meta.url.endsWith('.ts')) {
  const abitype = import.meta.resolve('abitype');
  const lean = new Map([
    ['viem', import.meta.resolve('./viem-without-chains.ts')],
    // That part asks for one function of it, and its index has twenty modules more.
    ['abitype', new URL('../human-readable/formatAbiItem.js', abitype).href],
  ]);
  registerHooks({
    resolve: (specifier, context, next) => next(lean.get(specifier) ?? specifier, context),
  });
}
