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

/** `outdated`: a network id in the namespace's `outdated` table. `unknown`: a well-formed id that no table has. */
export type NetworkForm = 'ok' | 'outdated' | 'unknown' | 'malformed';

/** Converts a v1 name to a CAIP-2 id. Another text is returned unchanged. */
export function toCaip2(network: string): string {
  return V1_NETWORKS.get(network) ?? network;
}

/** Finds the namespace of a v1 name or a well-formed CAIP-2 id; null for another text. */
export function findNamespace(network: string): Namespace | null {
  const name = toCaip2(network);
  const namespace = findClaimedNamespace(name);
  return namespace !== null && isInNamespace(namespace, name) ? namespace : null;
}

/** Finds the namespace by the prefix of the network id. The rest of the id may be malformed. */
export function findClaimedNamespace(network: JsonValue | undefined): Namespace | null {
  if (typeof network !== 'string') return null;
  const name = toCaip2(network);
  const prefix = name.slice(0, name.indexOf(':'));
  return isNamespace(prefix) ? prefix : null;
}

export function classifyNetwork(network: JsonValue | undefined, version: 1 | 2): NetworkForm {
  if (typeof network !== 'string') return 'malformed';
  if (version === 1) {
    if (V1_NETWORKS.has(network)) return 'ok';
    return V1_NAME.test(network) ? 'unknown' : 'malformed';
  }
  const namespace = findClaimedNamespace(network);
  if (V1_NETWORKS.has(network)) return 'malformed';
  if (namespace === null) return CAIP2.test(network) ? 'unknown' : 'malformed';
  if (NAMESPACES[namespace].network.test(network)) return 'ok';
  return isInNamespace(namespace, network) ? 'outdated' : 'malformed';
}

/** Returns false for unknown networks. */
export function isTestnet(network: string): boolean {
  return TESTNETS.has(toCaip2(network));
}

/** Returns true for networks that have a display name. */
export function isKnownNetwork(network: string): boolean {
  const name = toCaip2(network);
  return MAINNETS.has(name) || TESTNETS.has(name);
}

/** Returns the display name ("Base", "Solana Devnet"); the network id itself if it is unknown. */
export function toNetworkName(network: string): string {
  const name = toCaip2(network);
  return MAINNETS.get(name) ?? TESTNETS.get(name) ?? network;
}

function isInNamespace(namespace: Namespace, network: string): boolean {
  const { network: pattern, outdated = {} } = NAMESPACES[namespace];
  return pattern.test(network) || Object.hasOwn(outdated, network);
}

function isNamespace(name: string): name is Namespace {
  return Object.hasOwn(NAMESPACES, name);
}
