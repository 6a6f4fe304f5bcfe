/**
 * The table of payment schemes, with one row for each pair of scheme and namespace. Checks report a pair without a row
 * as unknown.
 */
import type { JsonValue } from '../json/json.ts';
import { CLIENT_SCHEMES } from './client-schemes.ts';
import { findClaimedNamespace, V1_NETWORKS } from './networks.ts';
import { OTHER_SCHEMES } from './other-schemes.ts';
import type { SchemeRow } from './scheme-row.ts';

export const SCHEMES: readonly SchemeRow[] = [...CLIENT_SCHEMES, ...OTHER_SCHEMES];

/** Finds the row of a scheme on a network; null if the pair is unknown. Only the prefix of the network counts. */
export function findSchemeRow(
  scheme: JsonValue | undefined,
  network: JsonValue | undefined,
): SchemeRow | null {
  const namespace = findClaimedNamespace(network);
  return SCHEMES.find((row) => row.scheme === scheme && row.namespace === namespace) ?? null;
}

/** Finds the package of the client that supports a scheme on a network; null if no client does. */
export function findClient(
  version: 1 | 2,
  scheme: JsonValue | undefined,
  network: JsonValue | undefined,
): string | null {
  // Version 1 has only the scheme `exact`, and names its networks without a CAIP-2 id.
  const fitsVersion =
    version === 2
      ? typeof network === 'string' && network.includes(':')
      : scheme === 'exact' && typeof network === 'string' && V1_NETWORKS.has(network);
  return fitsVersion ? (findSchemeRow(scheme, network)?.client ?? null) : null;
}
