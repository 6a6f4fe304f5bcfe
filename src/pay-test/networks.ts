import { KNOWN_ASSETS } from '../parse/x402/known-assets.ts';
import { toCaip2, V1_NETWORKS } from '../parse/x402/networks.ts';

const EVM = 'eip155:';

/** Lists every known eip155 network, because middlewares refuse a wildcard. */
export function evmNetworks(further: readonly string[]): readonly string[] {
  const known = [...V1_NETWORKS.values(), ...KNOWN_ASSETS.map(([network]) => network)];
  return [...new Set([...known, ...further.map(toCaip2)])].filter((one) => one.startsWith(EVM));
}

/** Lists their names in version 1. */
export function evmNames(further: readonly string[]): readonly string[] {
  const known = [...V1_NETWORKS].filter(([, network]) => network.startsWith(EVM));
  const given = further.filter((one) => !one.includes(':'));
  return [...new Set([...known.map(([name]) => name), ...given])];
}

/** Null for other networks than eip155. */
export function parseChainId(network: string): number | null {
  const [, digits] = /^eip155:(\d{1,15})$/.exec(toCaip2(network)) ?? [];
  return digits === undefined ? null : Number(digits);
}
