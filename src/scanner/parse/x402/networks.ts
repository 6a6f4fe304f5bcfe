import type { JsonValue } from '../json/json.ts';
import { NAMESPACES, type Namespace } from './namespaces.ts';
import { MAINNETS, TESTNETS } from './network-names.ts';

/** CAIP-2 ids of v1 network names, as in the official clients (`@x402/evm/v1`, `@x402/svm`). A test compares them. */
export const V1_NETWORKS: ReadonlyMap<string, string> = new Map([
  ['ethereum', 'eip155:1'],
  ['sepolia', 'eip155:11155111'],
  ['abstract', 'eip155:2741'],
  ['abstract-testnet', 'eip155:11124'],
  ['base-sepolia', 'eip155:84532'],
  ['base', 'eip155:8453'],
  ['avalanche-fuji', 'eip155:43113'],
  ['avalanche', 'eip155:43114'],
  ['iotex', 'eip155:4689'],
  ['sei', 'eip155:1329'],
  ['sei-testnet', 'eip155:1328'],
  ['polygon', 'eip155:137'],
  ['polygon-amoy', 'eip155:80002'],
  ['peaq', 'eip155:3338'],
  ['story', 'eip155:1514'],
  ['educhain', 'eip155:41923'],
  ['skale-base-sepolia', 'eip155:324705682'],
  ['megaeth', 'eip155:4326'],
  ['monad', 'eip155:143'],
  ['stable', 'eip155:988'],
  ['stable-testnet', 'eip155:2201'],
  ['celo', 'eip155:42220'],
  ['flare', 'eip155:14'],
  ['solana', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
  ['solana-devnet', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
  ['solana-testnet', 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z'],
]);

const V1_NAME = /^[a-z][-a-z0-9]{0,39}$/;
const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;

const MAX_CHARS = 100;
const V1_NAMES_BY_ID: ReadonlyMap<string, string> = new Map(
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
    // The last entry of a name wins. The tables have the id of the specification first.
    .toReversed(),
  ...V1_NETWORKS,
]);
/** The clusters by the numbers of Solana's token lists. */
const SOLANA_CLUSTERS: Readonly<Record<string, string>> = {
  'solana:101': 'mainnet',
  'solana:102': 'testnet',
  'solana:103': 'devnet',
};
/** Sellers also write the whole genesis hash, whose first 32 characters are the id. */
const SOLANA_IDS = [...V1_NETWORKS.values()].filter((id) => id.startsWith('solana:'));

/** `outdated`: a network id in the namespace's `outdated` table. `unknown`: a well-formed id that no table has. */
type NetworkForm = 'ok' | 'outdated' | 'unknown' | 'malformed';

/** Converts a v1 name to a CAIP-2 id. Any other value is returned unchanged. */
export function toCaip2<T extends JsonValue | undefined>(network: T): T | string {
  return typeof network === 'string' ? (V1_NETWORKS.get(network) ?? network) : network;
}

/** Finds the namespace of a v1 name or a well-formed CAIP-2 id; null for any other value. */
export function findNamespace(network: JsonValue | undefined): Namespace | null {
  if (typeof network !== 'string') return null;
  const id = toCaip2(network);
  const namespace = findClaimedNamespace(id);
  return namespace !== null && isInNamespace(namespace, id) ? namespace : null;
}

/** Finds the namespace by the prefix of the network id. The rest of the id may be malformed. */
export function findClaimedNamespace(network: JsonValue | undefined): Namespace | null {
  if (typeof network !== 'string') return null;
  const id = toCaip2(network);
  const prefix = id.slice(0, id.indexOf(':'));
  return isNamespace(prefix) ? prefix : null;
}

export function classifyNetwork(network: JsonValue | undefined, version: 1 | 2): NetworkForm {
  if (typeof network !== 'string') return 'malformed';
  if (version === 1) {
    if (V1_NETWORKS.has(network)) return 'ok';
    return V1_NAME.test(network) ? 'unknown' : 'malformed';
  }
  if (V1_NETWORKS.has(network)) return 'malformed';
  const namespace = findClaimedNamespace(network);
  if (namespace === null) return CAIP2.test(network) ? 'unknown' : 'malformed';
  if (NAMESPACES[namespace].network.test(network)) return 'ok';
  return isInNamespace(namespace, network) ? 'outdated' : 'malformed';
}

/** Returns false for unknown networks. */
export function isTestnet(network: JsonValue | undefined): boolean {
  return typeof network === 'string' && TESTNETS.has(toCaip2(network));
}

/** Returns true for networks that have a display name. */
export function isKnownNetwork(network: string): boolean {
  return isKnownId(toCaip2(network));
}

/** Returns the display name ("Base", "Solana Devnet"); the network id itself if it is unknown. */
export function toNetworkName(network: string): string {
  const id = toCaip2(network);
  return MAINNETS.get(id) ?? TESTNETS.get(id) ?? network;
}

function isKnownId(id: string): boolean {
  return MAINNETS.has(id) || TESTNETS.has(id);
}

function isInNamespace(namespace: Namespace, network: string): boolean {
  const { network: pattern, outdated = {} } = NAMESPACES[namespace];
  return pattern.test(network) || Object.hasOwn(outdated, network);
}

function isNamespace(name: string): name is Namespace {
  return Object.hasOwn(NAMESPACES, name);
}

/**
 * Returns the network id that the value means, in the terms of the version: a CAIP-2 id, or a name of version 1. Returns
 * null if the value names no network of our tables.
 */
export function suggestNetwork(value: JsonValue | undefined, version: 1 | 2): string | null {
  const id = findMeantId(value);
  if (id === null || version === 2) return id;
  return V1_NAMES_BY_ID.get(id) ?? null;
}

function findMeantId(value: JsonValue | undefined): string | null {
  if (typeof value === 'number') return findChain(String(value));
  if (typeof value !== 'string' || value.length > MAX_CHARS) return null;
  const text = value.trim();
  if (isKnownId(text)) return OUTDATED_IDS.get(text) ?? text;
  const solanaId = SOLANA_IDS.find((id) => text.startsWith(id));
  if (solanaId !== undefined) return solanaId;
  const [prefix = '', rest] = text.toLowerCase().split(':');
  if (rest === undefined) return findChain(prefix) ?? findByName(prefix);
  const namespace = findClaimedNamespace(`${prefix}:`);
  if (namespace === null || namespace === 'eip155') return findChain(rest) ?? findByName(rest);
  // In another namespace than eip155, a number is not the id of an EVM chain.
  return findInNamespace(namespace, SOLANA_CLUSTERS[text] ?? rest) ?? findByName(rest);
}

/** Finds the known EVM chain with this id, in decimal or hexadecimal digits. */
function findChain(digits: string): string | null {
  if (!/^(?:[1-9][0-9]{0,14}|0x[1-9a-f][0-9a-f]{0,11})$/.test(digits)) return null;
  const id = `eip155:${Number(digits)}`;
  return isKnownId(id) ? id : null;
}

function findByName(text: string): string | null {
  const slug = toSlug(text);
  const withoutMainnet = slug.replace(/^mainnet-|-mainnet(?:-beta)?$/g, '');
  return IDS_BY_NAME.get(slug) ?? IDS_BY_NAME.get(withoutMainnet) ?? null;
}

/** Finds a network of a namespace other than eip155 by its name. "solana:mainnet-beta" means the main network, Solana. */
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
