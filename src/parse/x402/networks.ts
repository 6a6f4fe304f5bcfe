/** Names of networks: CAIP-2 (v2), and the names of old that v1 challenges carry. */

/** The v1 networks that the checks rule on; the table of v1 names in `@x402/evm` has the same numbers. */
const V1_NETWORKS: ReadonlyMap<string, string> = new Map([
  ['base', 'eip155:8453'],
  ['base-sepolia', 'eip155:84532'],
]);

const EIP155 = /^eip155:[1-9][0-9]{0,31}$/;
/** The first 32 characters of the genesis hash, in base58. */
const SOLANA = /^solana:[1-9A-HJ-NP-Za-km-z]{32}$/;

/** The CAIP-2 name of a network; what is no v1 name comes back as it is. */
export function caip2(network: string): string {
  return V1_NETWORKS.get(network) ?? network;
}

/** The namespace whose address form we know; null for all others. */
export function namespaceOf(network: string): 'eip155' | 'solana' | null {
  const name = caip2(network);
  if (EIP155.test(name)) return 'eip155';
  return SOLANA.test(name) ? 'solana' : null;
}
