import { Type } from 'typebox';
import type { Config } from '../../config/config.ts';
import { OriginRefused } from '../../guard/errors.ts';
import { type Origin, parseOrigin } from '../../guard/origin.ts';

/** Ends a host: controls, space, "%", "@" and other ASCII that stands in no name; other scripts may. */
const NOT_IN_NAMES = '\\u0000-\\u002c\\u002f\\u003a-\\u0040\\u005b-\\u005e\\u0060\\u007b-\\u00a0';
const HOST = `(\\[[0-9A-Fa-f:.]+\\]|[^${NOT_IN_NAMES}]+)(:[0-9]*)?`;
const REST = '([/?#][^\\u0000-\\u0020\\u005c\\u007f-\\u00a0]*)?';

/**
 * Documents the `url` parameter for generators of clients. Only `parseOrigin` validates it, because its
 * refusals have codes of their own: it accepts nothing that the pattern forbids, and refuses more.
 */
export const DOCUMENTED_URL = {
  pattern: `^([Hh][Tt][Tt][Pp][Ss]?://)?${HOST}${REST}$`,
  minLength: 1,
  maxLength: 2_048,
  example: 'https://api.example.com',
};

export const urlParameter = Type.String({
  description:
    'An https URL or a bare host, such as https://api.example.com; path, query and fragment are dropped.',
  documented: DOCUMENTED_URL,
});

/** Reads the origin that a request names, by URL or bare host. Throws OriginRefused. */
export function requestedOrigin(
  url: string,
  { config }: { readonly config: Pick<Config, 'originPolicy'> },
): Origin {
  return parseOrigin(url, config.originPolicy);
}

/** The origin of the host in a path; null for one that we do not scan. */
export function originOfHost(
  host: string,
  parts: { readonly config: Pick<Config, 'originPolicy'> },
): Origin | null {
  try {
    return requestedOrigin(host, parts);
  } catch (error) {
    if (error instanceof OriginRefused) return null;
    throw error;
  }
}

export const listingKeyParameter = Type.Optional(
  Type.String({
    maxLength: 128,
    description:
      'The listingKey that POST /v1/verify/start answered beside the token; any other text is ignored.',
    documented: {
      example: 'c2VjcmV0LXRoYXQtc3RhbmRzLWZvci1pdHMtb3duZXI',
    },
  }),
);
