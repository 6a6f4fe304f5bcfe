import { KNOWN_ASSETS } from '../../src/scanner/parse/x402/known-assets.ts';
import { NAMESPACES } from '../../src/scanner/parse/x402/namespaces.ts';
import { MAINNETS, TESTNETS } from '../../src/scanner/parse/x402/network-names.ts';
import { classifyNetwork, V1_NETWORKS } from '../../src/scanner/parse/x402/networks.ts';
import type { SchemeRow } from '../../src/scanner/parse/x402/scheme-row.ts';
import { SCHEMES } from '../../src/scanner/parse/x402/schemes.ts';
import { listDefaultAssets } from './known-assets.ts';
import type { OfficialPackage, Packages } from './open-packages.ts';

/** Namespace by the package's name without scope, if the two differ. */
const NAMESPACE_BY_PACKAGE: Readonly<Record<string, string>> = {
  evm: 'eip155',
  svm: 'solana',
  avm: 'algorand',
  ton: 'tvm',
  concordium: 'ccd',
  lightning: 'lnbtc',
};
const CLIENT = /^\.\/([^/]+)\/client$/;
const SERVER = /^\.\/([^/]+)\/server$/;
const NETWORK = /^([-a-z0-9]{3,16}):[-_a-zA-Z0-9]{1,64}=?$/;
const MAX_DEPTH = 3;

/** Returns one line for each difference between the tables and the packages. */
export function listPackageDifferences(packages: Packages): readonly string[] {
  return [
    ...packages.flatMap(({ name, failed }) =>
      [...failed].map(([entry, reason]) => `${name} ${entry}: cannot be loaded: ${reason}`),
    ),
    ...listMissingPackages(packages),
    ...packages.flatMap(listSchemeDifferences),
    ...listAssetDifferences(packages),
    ...listNameDifferences(packages),
    ...packages.flatMap(listNetworkDifferences),
  ];
}

function listMissingPackages(packages: Packages): readonly string[] {
  const clientPackages = new Set(SCHEMES.flatMap(({ client }) => client ?? []));
  return [...clientPackages]
    .filter((name) => packages.every((one) => one.name !== name))
    .map((name) => `${name}: gone, and rows of schemes name it`);
}

function listSchemeDifferences(officialPackage: OfficialPackage): readonly string[] {
  const { name, entries } = officialPackage;
  const exported = [...entries.keys()].flatMap((entry) => CLIENT.exec(entry)?.[1] ?? []);
  const namespace = toNamespace(name);
  const rows = SCHEMES.filter((row) => row.namespace === namespace);
  const added = exported.flatMap((scheme) => {
    const row = rows.find((each) => each.scheme === scheme);
    const pair = `${scheme} on ${namespace}`;
    if (row === undefined) return [`${pair}: ${name} has a client, and there is no row`];
    if (row.judgedBy === 'passive' || row.judgedBy === 'named') {
      return [`${pair}: ${name} has a client, and its row is ${row.judgedBy}`];
    }
    return listFlowDifferences(row, officialPackage);
  });
  const removed = rows
    .filter(({ scheme, client }) => client === name && !exported.includes(scheme))
    .map(({ scheme }) => `${scheme} on ${namespace}: has a row, and ${name} has no client`);
  return [...added, ...removed];
}

/** Server classes list the flows of each transfer method; auth-capture has none. */
function listFlowDifferences(
  row: SchemeRow,
  { name, entries }: OfficialPackage,
): readonly string[] {
  const served = [...entries].flatMap(([entry, exported]) =>
    SERVER.exec(entry)?.[1] === row.scheme ? Object.values(exported).flatMap(readFlows) : [],
  );
  const flows = [...new Set(served)].toSorted();
  const knownFlows = [...(row.flows ?? [])].toSorted();
  if (flows.length === 0 || flows.join() === knownFlows.join()) return [];
  const pair = `${row.scheme} on ${row.namespace}`;
  return [`${pair}: flows ${knownFlows.join(', ')} here, ${flows.join(', ')} in ${name}`];
}

/** Constructs the exported server class with any address, and reads its flows. Returns none for other exports. */
function readFlows(exported: unknown): readonly string[] {
  if (typeof exported !== 'function') return [];
  let server: unknown;
  try {
    server = Reflect.construct(exported, ['0x1111111111111111111111111111111111111111']);
  } catch {
    // The export is a function beside the class.
    return [];
  }
  if (typeof server !== 'object' || server === null || !('paymentFlows' in server)) return [];
  const byMethod = Object.values(Object(server.paymentFlows));
  return byMethod.flatMap((flow) => {
    const { supported } = Object(flow);
    return Array.isArray(supported) ? supported.filter((one) => typeof one === 'string') : [];
  });
}

function listAssetDifferences(packages: Packages): readonly string[] {
  const upstream = listDefaultAssets(packages);
  const rows = KNOWN_ASSETS.map(([network, asset, symbol, decimals, domain]) => {
    const [name, version] = domain ?? [];
    return { network, asset, symbol, decimals, name, version };
  });
  const isSame = (one: { network: string; asset: string }, other: typeof one) =>
    one.network === other.network && one.asset === other.asset;
  const added = upstream.flatMap(({ network, asset, symbol, decimals, domain, from }) => {
    const at = `default asset ${network} ${asset}`;
    const row = rows.find((one) => isSame(one, { network, asset }));
    if (row === undefined) return [`${at} (${symbol}): in ${from}, and there is no row`];
    const theirs = { symbol, decimals, name: domain?.name, version: domain?.version };
    return (['symbol', 'decimals', 'name', 'version'] as const)
      .filter((member) => row[member] !== theirs[member])
      .map((member) => `${at}: ${member} ${row[member]} here, ${theirs[member]} in ${from}`);
  });
  const removed = rows
    .filter((row) => !upstream.some((one) => isSame(one, row)))
    .map(({ network, asset, symbol }) => `default asset ${network} ${asset} (${symbol}): gone`);
  const unnamed = [...new Set(upstream.map(({ network }) => network))]
    .filter((network) => MAINNETS.has(network) === TESTNETS.has(network))
    .map((network) => `network ${network}: has a default asset, and no name here`);
  return [...added, ...removed, ...unnamed];
}

/** Compares the names that networks have in version 1. */
function listNameDifferences(packages: Packages): readonly string[] {
  const findEntry = (name: string, path: string) =>
    packages.find((one) => one.name === name)?.entries.get(path) ?? {};
  const chains = Object.entries(Object(findEntry('@x402/evm', './v1')['EVM_NETWORK_CHAIN_ID_MAP']));
  const upstream = new Map([
    ...chains.map(([name, id]) => [name, `eip155:${id}`] as const),
    ...Object.entries(Object(findEntry('@x402/svm', '.')['V1_TO_V2_NETWORK_MAP'])).map(
      ([name, id]) => [name, String(id)] as const,
    ),
  ]);
  return [...new Set([...upstream.keys(), ...V1_NETWORKS.keys()])].flatMap((name) => {
    const [here, there] = [V1_NETWORKS.get(name), upstream.get(name)];
    if (here === there) return [];
    return [`version 1 name ${name}: ${here ?? 'no row'} here, ${there ?? 'gone'} upstream`];
  });
}

/** Finds exported network ids that do not have the form of their namespace. */
function listNetworkDifferences({ name, entries }: OfficialPackage): readonly string[] {
  const namespace = toNamespace(name);
  if (!Object.hasOwn(NAMESPACES, namespace)) return [];
  const ids = new Set(listTexts(entries.get('.'), 0));
  return [...ids]
    .filter((id) => NETWORK.exec(id)?.[1] === namespace)
    .filter((id) => !['ok', 'outdated'].includes(classifyNetwork(id, 2)))
    .map((id) => `network ${id}: in ${name}, and not in the form of its namespace`);
}

function listTexts(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([key, one]) => [key, ...listTexts(one, depth + 1)]);
}

function toNamespace(name: string): string {
  const shortName = name.replace('@x402/', '');
  return NAMESPACE_BY_PACKAGE[shortName] ?? shortName;
}
