import { x402Client, x402HTTPClient } from '@x402/core/client';
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { SolanaSchemes } from './solana-schemes.ts';

/**
 * `quickstart` follows the packages' README, and `quickstart-svm` adds Solana. `full` has every scheme of the packages.
 * `unlimited` is `full` without spend controls.
 */
export type BuyerName = 'quickstart' | 'quickstart-svm' | 'full' | 'unlimited';

export type BuyerFactory = (name: BuyerName, needsSolana: boolean) => Promise<x402HTTPClient>;

const ALL_EVM = 'eip155:*';

/**
 * Sets up official clients as their quickstarts do, with a new key that holds no money. The clients cannot read a chain, so
 * every scheme signs by the offer only. Each call of the factory makes a new client, because some schemes keep state.
 */
export function createBuyerFactory(): BuyerFactory {
  const account = privateKeyToAccount(generatePrivateKey());
  /** Set at the first use, because Solana's packages take as long to load as all others together. */
  let solanaSchemes: Promise<SolanaSchemes> | undefined;

  return async (name, needsSolana) => {
    const client = new x402Client();
    registerExactEvmScheme(client, { signer: account });
    if (needsSolana && name !== 'quickstart') {
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
