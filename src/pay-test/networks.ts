import { KNOWN_ASSETS } from '../parse/x402/known-assets.ts';
import { toCaip2, V1_NETWORKS } from '../parse/x402/networks.ts';

const EVM_PREFIX = 'eip155:';

/** Lists every known eip155 network, because middlewares refuse the wildcard "eip155:*". */
export function listEvmNetworks(extraNetworks: readonly string[]): readonly string[] {
  const knownNetworks = [...V1_NETWORKS.values(), ...KNOWN_ASSETS.map(([network]) => network)];
  return [...new Set([...knownNetworks, ...extraNetworks.map(toCaip2)])].filter((network) =>
    network.startsWith(EVM_PREFIX),
  );
}

/** Lists the names that version 1 has for eip155 networks. */
export function listEvmNames(extraNetworks: readonly string[]): readonly string[] {
  const evmEntries = [...V1_NETWORKS].filter(([, network]) => network.startsWith(EVM_PREFIX));
  const extraNames = extraNetworks.filter((name) => !name.includes(':'));
  return [...new Set([...evmEntries.map(([name]) => name), ...extraNames])];
}

/** Returns null for a network that is not eip155. */
export function parseChainId(network: string): number | null {
  const [, digits] = /^eip155:(\d{1,15})$/.exec(toCaip2(network)) ?? [];
  return digits === undefined ? null : Number(digits);
}
