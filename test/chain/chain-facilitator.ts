import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import {
  createWalletClient,
  type Hex,
  http,
  publicActions,
  type VerifyTypedDataParameters,
} from 'viem';
import { nonceManager, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import type { TestChain } from './test-chain.ts';

/** The official facilitator, in process: it verifies and settles on this chain with `key`'s gas. */
export function chainFacilitator(
  chain: Pick<TestChain, 'rpcUrl' | 'network' | 'facilitatorKey'>,
  key: Hex = chain.facilitatorKey,
): x402Facilitator {
  // Without the nonce manager, settlements sent at once collide.
  const account = privateKeyToAccount(key, { nonceManager });
  const wallet = createWalletClient({
    account,
    chain: base,
    transport: http(chain.rpcUrl),
    pollingInterval: 50,
  }).extend(publicActions);
  const signer = toFacilitatorEvmSigner({
    ...wallet,
    address: account.address,
    // The x402 types say "unknown" where those of viem know the fields of EIP-712.
    verifyTypedData: (args) => wallet.verifyTypedData(args as VerifyTypedDataParameters),
  });
  return new x402Facilitator().register([chain.network], new ExactEvmScheme(signer));
}
