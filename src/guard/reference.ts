/** References inside an origin's documents, resolved against the place that they stand in. */
import { OriginRefused } from './errors.ts';
import { type Origin, type OriginPolicy, validateUrl } from './origin.ts';

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i;

/**
 * The URL that a `Location` or a link means, judged as strictly as one that was typed.
 * What names its own authority is judged as written: resolving it first would fold user info,
 * backslashes and percent-encoded hosts away. Throws OriginRefused.
 */
export function resolveReference(reference: string, base: URL, policy: OriginPolicy): URL {
  if (ABSOLUTE.test(reference)) return validateUrl(reference, policy);
  if (/^[\\/]{2}/.test(reference)) return validateUrl(`${base.protocol}${reference}`, policy);
  if (/[\u0000-\u0020\u007f-\u00a0\\]/.test(reference)) {
    throw new OriginRefused('control_space_or_backslash');
  }
  if (!URL.canParse(reference, base.href)) throw new OriginRefused('parse_error');
  return validateUrl(new URL(reference, base).href, policy);
}

/**
 * The URL that an origin's document names, if it lies on that origin; null for all else.
 * Nothing found in a document is fetched unless it came through here.
 * `base` is the URL of the document, for relative references.
 */
export function sameOriginUrl(origin: Origin, candidate: string, base?: URL): URL | null {
  const root = new URL(`${origin.url}/`);
  const onlyThisHost: OriginPolicy = {
    allowedPorts: [],
    allowHosts: new Set([`${root.hostname}:${origin.port}`]),
  };
  try {
    const url = resolveReference(candidate, base ?? root, onlyThisHost);
    return url.origin === origin.url ? url : null;
  } catch (error) {
    if (error instanceof OriginRefused) return null;
    throw error;
  }
}
