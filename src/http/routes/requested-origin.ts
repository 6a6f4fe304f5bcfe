/** The origin that a request names. */
import type { Config } from '../../config/config.ts';
import { type Origin, parseOrigin } from '../../guard/origin.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';

/** Reads the origin that a request names, by URL or bare host. Throws OriginRefused. */
export function requestedOrigin(
  url: string,
  { config }: { readonly config: Pick<Config, 'originPolicy'> },
): Origin {
  return parseOrigin(url, config.originPolicy);
}

/** Some 300 bytes each. */
const MAX_REMEMBERED = 4_096;
/** Longer texts are parsed each time: what is kept is bounded in bytes, too. */
const MAX_REMEMBERED_CHARS = 300;

/** As `requestedOrigin`, for those who ask for the same few hundred origins over and over. */
export function rememberingOrigins(
  parts: Parameters<typeof requestedOrigin>[1],
): (url: string) => Origin {
  const known = new BoundedMap<string, Origin>(MAX_REMEMBERED);
  return (url) => {
    const found = known.get(url);
    if (found !== undefined) return found;
    const origin = requestedOrigin(url, parts);
    if (url.length > MAX_REMEMBERED_CHARS) return origin;
    known.set(url, origin);
    return origin;
  };
}
