import { OriginRefused } from './errors.ts';
import { type Origin, type OriginPolicy, validateUrl } from './origin.ts';

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Resolves a `Location` or a link against its document and validates it like typed input. A reference
 * with its own authority is validated as written, because resolving would normalise user info,
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
 * Resolves a document's URL if it lies on that origin; null otherwise. Nothing from a document may be
 * fetched unless it passed this. `base` is the document's URL, for relative references.
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
