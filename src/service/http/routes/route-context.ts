import { Type } from 'typebox';
import type { SigningKey } from '../../../scanner/attestation/key-set.ts';
import type { Catalog } from '../../../scanner/engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../../scanner/engine/catalog/discover-checks.ts';
import { OriginRefused } from '../../../scanner/guard/failures.ts';
import { type Origin, parseOrigin } from '../../../scanner/guard/origin.ts';
import type { Config } from '../../config/config.ts';
import type { Verification } from '../../ownership/verification.ts';
import type { ScanCoordinator } from '../../scans/scan-coordinator.ts';
import type { Store } from '../../store/store.ts';
import type { PreflightRunner } from '../../turns/run-preflight.ts';
import type { OwnerWatches } from '../../watch/owner-watches.ts';

/** Options of every route group. */
export type RouteContext = {
  readonly config: Config;
  readonly store: Store;
  readonly scanCoordinator: ScanCoordinator;
  readonly catalog: Catalog;
  /** The check versions that the catalog runs. */
  readonly checks: readonly DiscoveredCheck[];
  readonly verification: Verification;
  readonly ownerWatches: OwnerWatches;
  readonly preflight: PreflightRunner;
  readonly signingKey: SigningKey;
};

/** ASCII and control characters that no host name contains. Characters of other scripts are allowed. */
const NOT_IN_NAMES = '\\u0000-\\u002c\\u002f\\u003a-\\u0040\\u005b-\\u005e\\u0060\\u007b-\\u00a0';
const HOST_PATTERN = `(\\[[0-9A-Fa-f:.]+\\]|[^${NOT_IN_NAMES}]+)(:[0-9]*)?`;
const PATH_AND_QUERY_PATTERN = '([/?#][^\\u0000-\\u0020\\u005c\\u007f-\\u00a0]*)?';

/** Only for generators of clients. `parseOrigin` is stricter than this pattern, and has its own error codes. */
export const OPENAPI_URL = {
  pattern: `^([Hh][Tt][Tt][Pp][Ss]?://)?${HOST_PATTERN}${PATH_AND_QUERY_PATTERN}$`,
  minLength: 1,
  maxLength: 2_048,
  example: 'https://api.example.com',
};

export const urlParameter = Type.String({
  description:
    'An https URL or a host name, such as https://api.example.com. Its path, query and fragment are ignored.',
  documented: OPENAPI_URL,
});

type PolicyContext = { readonly config: Pick<Config, 'originPolicy'> };

/** Parses the origin that a request names by a URL or a host. Throws OriginRefused. */
export function parseRequestedOrigin(url: string, { config }: PolicyContext): Origin {
  return parseOrigin(url, config.originPolicy);
}

/** Parses the host in a path; null for a host that the scanner does not scan. */
export function findOriginOfHost(host: string, parts: PolicyContext): Origin | null {
  try {
    return parseRequestedOrigin(host, parts);
  } catch (error) {
    if (error instanceof OriginRefused) return null;
    throw error;
  }
}

export const listingKeyParameter = Type.Optional(
  Type.String({
    maxLength: 128,
    description:
      'The listingKey in the answer of POST /v1/verify/start. Any other text is ignored.',
    documented: { example: 'c2VjcmV0LXRoYXQtc3RhbmRzLWZvci1pdHMtb3duZXI' },
  }),
);
