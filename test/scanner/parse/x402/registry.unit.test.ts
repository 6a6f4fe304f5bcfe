/** The tables of networks and schemes agree with the packages of the official clients. */
import { readFile } from 'node:fs/promises';
import { x402Client } from '@x402/core/client';
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import * as chains from 'viem/chains';
import { describe, expect, test } from 'vitest';
import { CLIENTS } from '../../../../src/scanner/clients/open-clients.ts';
import { KNOWN_ASSETS } from '../../../../src/scanner/parse/x402/known-assets.ts';
import { NAMESPACES } from '../../../../src/scanner/parse/x402/namespaces.ts';
import { MAINNETS, TESTNETS } from '../../../../src/scanner/parse/x402/network-names.ts';
import {
  classifyNetwork,
  toNetworkName,
  V1_NETWORKS,
} from '../../../../src/scanner/parse/x402/networks.ts';
import { findClient } from '../../../../src/scanner/parse/x402/schemes.ts';
import { renderNetworksDocument } from '../../../../tools/upstream/document.ts';

const ROOT = new URL('../../../../', import.meta.url);

describe('the table of clients and networks', () => {
  test('has the versions of the installed packages', async () => {
    for (const { name, version } of CLIENTS) {
      const manifest = new URL(`node_modules/${name}/package.json`, ROOT);
      expect(JSON.parse(await readFile(manifest, 'utf8'))).toMatchObject({ version });
    }
  });

  test('names the schemes as the clients do', () => {
    const account = { address: '0x0', signTypedData: async () => '0x' } as never;
    const client = registerExactEvmScheme(new x402Client(), { signer: account });
    expect(client).toBeInstanceOf(x402Client);
    const schemes = [UptoEvmScheme, BatchSettlementEvmScheme, AuthCaptureEvmScheme];
    for (const Scheme of schemes) {
      expect(findClient(2, new Scheme(account).scheme, 'eip155:8453')).toBe('@x402/evm');
    }
    expect(findClient(2, 'exact', 'stellar:pubnet')).toBeNull();
    expect(findClient(1, 'upto', 'base')).toBeNull();
  });

  test('knows for each network of the packages whether the network is a test network', () => {
    const networks = [...KNOWN_ASSETS.map(([network]) => network), ...V1_NETWORKS.values()];
    for (const network of networks) {
      expect([network, MAINNETS.has(network) !== TESTNETS.has(network)]).toEqual([network, true]);
    }
  });
});

describe('networks', () => {
  test.each([
    ['eip155:8453', 2, 'ok'],
    ['eip155:0', 2, 'malformed'],
    ['eip155:base-mainnet', 2, 'malformed'],
    ['eip155:08453', 2, 'malformed'],
    ['base', 2, 'malformed'],
    ['base', 1, 'ok'],
    ['eip155:8453', 1, 'malformed'],
    ['moonbeam', 1, 'unknown'],
    ['solana:mainnet', 2, 'malformed'],
    ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 2, 'ok'],
    ['algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k', 2, 'ok'],
    ['algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=', 2, 'outdated'],
    ['hedera:mainnet', 1, 'malformed'],
    ['cip34:1-764824073', 2, 'ok'],
    ['cloudflare:402', 2, 'ok'],
    ['cloudflare:403', 2, 'malformed'],
    ['valueof:x', 2, 'unknown'],
    ['hedera', 2, 'malformed'],
    ['', 2, 'malformed'],
  ] as const)('%j in version %i is %s', (network, version, form) => {
    expect(classifyNetwork(network, version)).toBe(form);
  });

  test('include the examples of CAIP-2 and of their specifications', () => {
    for (const network of [...TESTNETS.keys(), ...MAINNETS.keys()]) {
      expect(['ok', 'outdated']).toContain(classifyNetwork(network, 2));
    }
    for (const { source } of Object.values(NAMESPACES)) expect(source).toMatch(/\.md$/);
  });

  test('are test networks if, and only if, viem lists them as test networks', () => {
    const viemChains = Object.values(chains).filter((chain) => 'id' in chain);
    for (const chain of viemChains) {
      const network = `eip155:${chain.id}`;
      const isTest = 'testnet' in chain && chain.testnet === true;
      if (TESTNETS.has(network)) expect([chain.name, isTest]).toEqual([chain.name, true]);
      if (MAINNETS.has(network)) expect([chain.name, isTest]).toEqual([chain.name, false]);
    }
    expect(viemChains.length).toBeGreaterThan(300);
  });

  test('have the names that people use', () => {
    expect(toNetworkName('base')).toBe('Base');
    expect(toNetworkName('eip155:84532')).toBe('Base Sepolia');
    expect(toNetworkName('eip155:6')).toBe('eip155:6');
    expect(toNetworkName('eip155:10143')).toBe('Monad Testnet');
    expect(toNetworkName('eip155:5042')).toBe('Arc');
    expect(toNetworkName('eip155:5042002')).toBe('Arc Testnet');
  });
});

test('the page docs/networks-and-schemes.md lists the tables (npm run upstream -- --write updates the page)', async () => {
  const page = await readFile(new URL('docs/networks-and-schemes.md', ROOT), 'utf8');
  expect(page).toBe(renderNetworksDocument());
});
