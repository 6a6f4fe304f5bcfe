/**
 * Payment schemes known to the catalog, one row per scheme and namespace: required members of `extra`,
 * flows, the meaning of the amount, the client package and the specification. A scheme without a row is
 * reported as unknown.
 */
import { type JsonValue, jsonObject } from '../json/json.ts';
import { CLIENT_SCHEMES } from './client-schemes.ts';
import { findClaimedNamespace, V1_NETWORKS } from './networks.ts';
import { OTHER_SCHEMES } from './other-schemes.ts';
import type { SchemeRow } from './scheme-row.ts';

export const SCHEMES: readonly SchemeRow[] = [...CLIENT_SCHEMES, ...OTHER_SCHEMES];

/** Finds a scheme's row on a network, whatever else is wrong with the offer; null when unknown. */
export function findSchemeRow(
  scheme: JsonValue | undefined,
  network: JsonValue | undefined,
): SchemeRow | null {
  const namespace = findClaimedNamespace(network);
  return SCHEMES.find((row) => row.scheme === scheme && row.namespace === namespace) ?? null;
}

/** Finds the package whose client supports a scheme on a network; null when none does. */
export function findClient(
  version: 1 | 2,
  scheme: JsonValue | undefined,
  network: JsonValue | undefined,
): string | null {
  // Version 1 ended before other schemes existed, and identifies networks by name.
  const isKnown =
    version === 2
      ? typeof network === 'string' && network.includes(':')
      : scheme === 'exact' && typeof network === 'string' && V1_NETWORKS.has(network);
  return isKnown ? (findSchemeRow(scheme, network)?.client ?? null) : null;
}

/** The offer's transfer method: the default when it names none, null if it is not text. */
export function findTransferMethod(row: SchemeRow, extra: JsonValue | undefined): string | null {
  const named = jsonObject(extra)['assetTransferMethod'] ?? row.methods?.[0] ?? '';
  return typeof named === 'string' ? named : null;
}

/** Returns true when the row's client supports the offer's method. */
export function isPaidMethod(row: SchemeRow, extra: JsonValue | undefined): boolean {
  if (row.paidMethods === undefined) return true;
  const method = findTransferMethod(row, extra);
  return method !== null && row.paidMethods.includes(method);
}

/** Returns true for an offer whose payment settles before the work (scheme_exact.md, "upfront"). */
export function isSettledUpfront(extra: JsonValue | undefined): boolean {
  return jsonObject(extra)['paymentFlow'] === 'upfront';
}
