/** Finds the network that a malformed network id means, so that a fix can print the valid id. */
import type { JsonValue } from '../json/json.ts';
import { NAMESPACES, type Namespace } from './namespaces.ts';
import { MAINNETS, TESTNETS } from './network-names.ts';
import { findClaimedNamespace, V1_NETWORKS } from './networks.ts';

const MAX_CHARS = 100;
const V1_NAMES: ReadonlyMap<string, string> = new Map(
  [...V1_NETWORKS].map(([name, id]) => [id, name]),
);
const OUTDATED_IDS: ReadonlyMap<string, string> = new Map(
  Object.values(NAMESPACES).flatMap(({ outdated = {} }) => Object.entries(outdated)),
);
/** Valid ids by their names: those of version 1, and the display names as "base-sepolia". */
const IDS_BY_NAME: ReadonlyMap<string, string> = new Map([
  ...[...MAINNETS, ...TESTNETS]
    .filter(([id]) => !OUTDATED_IDS.has(id))
    .map(([id, name]): [string, string] => [toSlug(name), id])
    // The first id of a name is the one of the specification.
    .toReversed(),
  ...V1_NETWORKS,
]);
/** The first 32 characters of a genesis hash are the id. Sellers also write the whole hash. */
/** The clusters by the numbers of Solana's token lists. */
const SOLANA_CLUSTERS: Readonly<Record<string, string>> = {
  'solana:101': 'mainnet',
  'solana:102': 'testnet',
  'solana:103': 'devnet',
};
const SOLANA_IDS = [...V1_NETWORKS.values()].filter((id) => id.startsWith('solana:'));

/**
 * Returns the network id that the value means, in the terms of the version: a CAIP-2 id, or a name of version 1. Returns
 * null if the value names no network of our tables.
 */
export function suggestNetwork(value: JsonValue | undefined, version: 1 | 2): string | null {
  const id = findMeantId(value);
  if (id === null || version === 2) return id;
  return V1_NAMES.get(id) ?? null;
}

function findMeantId(value: JsonValue | undefined): string | null {
  if (typeof value === 'number') return findChain(String(value));
  if (typeof value !== 'string' || value.length > MAX_CHARS) return null;
  const text = value.trim();
  if (MAINNETS.has(text) || TESTNETS.has(text)) return OUTDATED_IDS.get(text) ?? text;
  const solanaId = SOLANA_IDS.find((id) => text.startsWith(id));
  if (solanaId !== undefined) return solanaId;
  const [prefix = '', rest] = text.toLowerCase().split(':');
  if (rest === undefined) return findChain(prefix) ?? findByName(prefix);
  const namespace = findClaimedNamespace(`${prefix}:`);
  if (namespace === null || namespace === 'eip155') return findChain(rest) ?? findByName(rest);
  // The number of a chain in another namespace is no EVM chain.
  return findInNamespace(namespace, SOLANA_CLUSTERS[text] ?? rest) ?? findByName(rest);
}

/** The id of an EVM chain, in decimal or hexadecimal digits. */
function findChain(digits: string): string | null {
  if (!/^(?:[1-9][0-9]{0,14}|0x[1-9a-f][0-9a-f]{0,11})$/.test(digits)) return null;
  const id = `eip155:${Number(digits)}`;
  return MAINNETS.has(id) || TESTNETS.has(id) ? id : null;
}

function findByName(text: string): string | null {
  const slug = toSlug(text);
  const withoutMainnet = slug.replace(/^mainnet-|-mainnet(?:-beta)?$/g, '');
  return IDS_BY_NAME.get(slug) ?? IDS_BY_NAME.get(withoutMainnet) ?? null;
}

/** Other namespaces have one main network: "solana:mainnet-beta" means Solana. */
function findInNamespace(namespace: Namespace, name: string): string | null {
  const isMain = /^main(?:net)?(?:-beta)?$/.test(name);
  const networks = [...(isMain ? MAINNETS : TESTNETS)].filter(
    ([id]) => id.startsWith(`${namespace}:`) && !OUTDATED_IDS.has(id),
  );
  const network = networks.find(([, label]) => isMain || toSlug(label).endsWith(`-${name}`));
  return network?.[0] ?? null;
}

function toSlug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
