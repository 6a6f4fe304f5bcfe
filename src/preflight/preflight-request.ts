import type { OriginRefused } from '../guard/errors.ts';
import { type Origin, type OriginPolicy, toOrigin, validateUrl } from '../guard/origin.ts';
import { type Preflight, toPreflight } from './result.ts';

export type PreflightRequest = {
  readonly origin: Origin;
  /** Path and query. */
  readonly path: string;
  /** Upper case. The buyer will pay for a request with this method. */
  readonly method: string;
  readonly maxPrice: string | null;
};

const PRICE_PATTERN = /^[0-9]{1,30}(?:\.[0-9]{1,30})?$/;

/** True for a price in whole units of the asset, such as "0.05". */
export function isPrice(text: string): boolean {
  return PRICE_PATTERN.test(text);
}

/** Throws OriginRefused. */
export function parsePreflightUrl(
  url: string,
  policy: OriginPolicy,
): Pick<PreflightRequest, 'origin' | 'path'> {
  const valid = validateUrl(url, policy);
  return { origin: toOrigin(valid), path: `${valid.pathname}${valid.search}` };
}

export type PreflightTarget = {
  readonly origin: Origin;
  /** Path and query; null if the text names only a host. */
  readonly path: string | null;
};

/** Parses text that people type: a URL, or a host with or without a path. Throws OriginRefused. */
export function readPreflightTarget(text: string, policy: OriginPolicy): PreflightTarget {
  const trimmed = text.trim();
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
  const { origin, path } = parsePreflightUrl(url, policy);
  return { origin, path: path === '/' ? null : path };
}

/** Returns the answer for a URL that the guard refuses. */
export function refusedPreflight({ message }: OriginRefused): Preflight {
  return toPreflight([{ code: 'refused', evidence: message }]);
}

export function notAsked(evidence: string): Preflight {
  return toPreflight([{ code: 'not_asked', evidence }]);
}
