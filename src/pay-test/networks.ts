import { KNOWN_ASSETS } from '../parse/x402/known-assets.ts';
import { caip2, V1_NETWORKS } from '../parse/x402/networks.ts';

const EVM = 'eip155:';

/** Every known eip155 network, and further ones: middlewares refuse a wildcard. */
export function evmNetworks(further: readonly string[]): readonly string[] {
  const known = [...V1_NETWORKS.values(), ...KNOWN_ASSETS.map(([network]) => network)];
  return [...new Set([...known, ...further.map(caip2)])].filter((one) => one.startsWith(EVM));
}

/** Names that version 1 has for them, and names that were given. */
export function evmNames(further: readonly string[]): readonly string[] {
  const known = [...V1_NETWORKS].filter(([, network]) => network.startsWith(EVM));
  const given = further.filter((one) => !one.includes(':'));
  return [...new Set([...known.map(([name]) => name), ...given])];
}

/** Null where it is no eip155 network. */
export function parseChainId(network: string): number | null {
  const [, digits] = /^eip155:(\d{1,15})$/.exec(caip2(network)) ?? [];
  return digits === undefined ? null : Number(digits);
}
