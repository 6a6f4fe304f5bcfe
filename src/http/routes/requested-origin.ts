import type { Config } from '../../config/config.ts';
import { type Origin, parseOrigin } from '../../guard/origin.ts';

/** Reads the origin that a request names, by URL or bare host. Throws OriginRefused. */
export function requestedOrigin(
  url: string,
  { config }: { readonly config: Pick<Config, 'originPolicy'> },
): Origin {
  return parseOrigin(url, config.originPolicy);
}
