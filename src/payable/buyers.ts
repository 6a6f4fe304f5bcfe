import { x402Client, x402HTTPClient } from '@x402/core/client';
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { SolanaSchemes } from './solana-schemes.ts';

/**
 * `quickstart`: what the README of the packages sets up. `quickstart-svm`: the same beside Solana.
 * `full`: every scheme that there is a client for. `unlimited`: that, with spend controls lifted.
 */
export type BuyerName = 'quickstart' | 'quickstart-svm' | 'full' | 'unlimited';

export type Buyers = (name: BuyerName, solana: boolean) => Promise<x402HTTPClient>;

const ALL_EVM = 'eip155:*';

/**
 * Official clients set up as their quickstarts do, with a throwaway key that no money ever reaches and
 * without reads of a chain, so every scheme signs from the offer alone. Each call makes a new client,
 * because some schemes keep what they signed. Solana's packages load when a challenge first names
 * Solana: they take as long as all others together.
 */
export function createBuyers(): Buyers {
  const account = privateKeyToAccount(generatePrivateKey());
  let solanaSchemes: Promise<SolanaSchemes> | undefined;

  return async (name, solana) => {
    const client = new x402Client();
    registerExactEvmScheme(client, { signer: account });
    if (solana && name !== 'quickstart') {
      solanaSchemes ??= import('./solana-schemes.ts').then((one) => one.createSolanaSchemes());
      (await solanaSchemes)(client, name === 'quickstart-svm' ? 'exact' : 'all');
    }
    if (name === 'full' || name === 'unlimited') {
      client.register(ALL_EVM, new UptoEvmScheme(account));
      client.register(ALL_EVM, new BatchSettlementEvmScheme(account));
      client.register(ALL_EVM, new AuthCaptureEvmScheme(account));
    }
    if (name === 'unlimited') client.setSpendControls(false);
    return new x402HTTPClient(client);
  };
}
