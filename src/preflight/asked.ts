import type { OriginRefused } from '../guard/errors.ts';
import { type Origin, type OriginPolicy, originOf, validateUrl } from '../guard/origin.ts';
import { type Preflight, preflightOf } from './result.ts';

export type Asked = {
  readonly origin: Origin;
  /** Path and query. */
  readonly path: string;
  /** Upper case; the method of the buyer's coming request. */
  readonly method: string;
  readonly maxPrice: string | null;
};

const MAX_PRICE = /^[0-9]{1,30}(?:\.[0-9]{1,30})?$/;

/** "0.05": whole units of the asset, as people write a price. */
export function isPrice(text: string): boolean {
  return MAX_PRICE.test(text);
}

/** Throws OriginRefused. */
export function askedUrl(url: string, policy: OriginPolicy): Pick<Asked, 'origin' | 'path'> {
  const valid = validateUrl(url, policy);
  return { origin: originOf(valid), path: `${valid.pathname}${valid.search}` };
}

/** The answer when the guard refuses the URL. */
export function refusedPreflight({ message }: OriginRefused): Preflight {
  return preflightOf([{ code: 'refused', evidence: message }]);
}

export function notAsked(evidence: string): Preflight {
  return preflightOf([{ code: 'not_asked', evidence }]);
}
