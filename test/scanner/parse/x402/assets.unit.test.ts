import { DEFAULT_ASSETS } from '@x402/evm';
import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1';
import { describe, expect, test } from 'vitest';
import { classifyAddress } from '../../../../src/scanner/parse/x402/address-form.ts';
import { findKnownAsset } from '../../../../src/scanner/parse/x402/assets.ts';
import { findNamespace, toCaip2 } from '../../../../src/scanner/parse/x402/networks.ts';

const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const SEPOLIA_USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';

describe('findKnownAsset', () => {
  test('knows USDC on Base, in any case of letters, by the names of v1 and v2', () => {
    const usdc = { symbol: 'USDC', decimals: 6, domain: { name: 'USD Coin', version: '2' } };
    expect(findKnownAsset('eip155:8453', BASE_USDC)).toMatchObject(usdc);
    expect(findKnownAsset('base', BASE_USDC.toLowerCase())).toMatchObject(usdc);
  });

  test('knows that the domain of Base Sepolia has another name', () => {
    expect(findKnownAsset('base-sepolia', SEPOLIA_USDC)?.domain).toEqual({
      name: 'USDC',
      version: '2',
    });
  });

  test('knows USDC on Solana, which has no domain and whose letters have only one case', () => {
    const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
    const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    expect(findKnownAsset(network, mint)).toMatchObject({ decimals: 6, domain: null });
    expect(findKnownAsset(network, mint.toLowerCase())).toBeNull();
    const devnet = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
    const devnetMint = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
    expect(findKnownAsset(devnet, devnetMint)?.decimals).toBe(6);
  });

  test('knows an asset neither on another network nor by its symbol', () => {
    expect(findKnownAsset('eip155:84532', BASE_USDC)).toBeNull();
    expect(findKnownAsset('eip155:8453', 'USDC')).toBeNull();
    expect(findKnownAsset('', '')).toBeNull();
  });

  test('knows every default asset of the official packages, and each has a well-formed address', () => {
    const officialAssets = Object.entries(DEFAULT_ASSETS).flatMap(([network, assets]) =>
      assets.map((asset) => ({ network, ...asset })),
    );
    expect(officialAssets.length).toBeGreaterThan(20);
    for (const { network, asset, decimals, name } of officialAssets) {
      expect(findKnownAsset(network, asset)).toMatchObject({ decimals, domain: { name } });
      expect(classifyAddress(network, asset)).toBe('ok');
    }
  });
});

describe('toCaip2', () => {
  test('gives the v1 names the same chain as x402', () => {
    for (const name of ['base', 'base-sepolia', 'polygon'] as const) {
      expect(toCaip2(name)).toBe(`eip155:${EVM_NETWORK_CHAIN_ID_MAP[name]}`);
      expect(findNamespace(name)).toBe('eip155');
    }
  });

  test('returns other names unchanged', () => {
    expect(toCaip2('eip155:1')).toBe('eip155:1');
    expect(toCaip2('toString')).toBe('toString');
    expect(findNamespace('toString')).toBeNull();
  });
});
