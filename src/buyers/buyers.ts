import { x402Client, x402HTTPClient } from '@x402/core/client';
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { SolanaSchemes } from './solana-schemes.ts';

/**
 * `quickstart` follows the packages' README, and `quickstart-svm` adds Solana. `full` has every scheme with a client.
 * `unlimited` is `full` without spend controls.
 */
export type BuyerName = 'quickstart' | 'quickstart-svm' | 'full' | 'unlimited';

export type Buyers = (name: BuyerName, solana: boolean) => Promise<x402HTTPClient>;

const ALL_EVM = 'eip155:*';

/**
 * Sets up official clients as their quickstarts do, with a new key that holds no money. They cannot read a chain, so every
 * scheme signs by the offer only. Each call makes a new client, because some schemes keep state. Solana's packages load at
 * the first use, because they take as long as all others together.
 */
export function createBuyers(): Buyers {
  const account = privateKeyToAccount(generatePrivateKey());
  let solanaSchemes: Promise<SolanaSchemes> | undefined;

  return async (name, solana) => {
    const client = new x402Client();
    registerExactEvmScheme(client, { signer: account });
    if (solana && name !== 'quickstart') {
      solanaSchemes ??= import('./solana-schemes.ts').then((module) =>
        module.createSolanaSchemes(),
      );
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
