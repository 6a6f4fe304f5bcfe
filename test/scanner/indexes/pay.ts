/** Tokens move on the local chain by authorization, which settles an x402 payment, or by plain transfer. */
import { randomBytes } from 'node:crypto';
import { type Address, createWalletClient, type Hex, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import type { Payer, TestChain } from '../../fixtures/chain/test-chain.ts';
import { tokenAbi } from '../../fixtures/chain/token-abi.ts';

const AMOUNT = 10_000n;
const AUTHORIZATION = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

export type SignedAuthorization = readonly [
  from: Address,
  to: Address,
  value: bigint,
  validAfter: bigint,
  validBefore: bigint,
  nonce: Hex,
  signature: Hex,
];

/** The authorization expires by the clock of the chain, because tests move that clock. */
export async function authorize(
  chain: TestChain,
  payer: Payer,
  to: Address,
): Promise<SignedAuthorization> {
  const message = {
    from: payer.address,
    to,
    value: AMOUNT,
    validAfter: 0n,
    validBefore: (await chain.blockTime()) + 3_600n,
    nonce: `0x${randomBytes(32).toString('hex')}` as const,
  };
  const signature = await privateKeyToAccount(payer.privateKey).signTypedData({
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: chain.chainId,
      verifyingContract: chain.token,
    },
    types: AUTHORIZATION,
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const { from, value, validAfter, validBefore, nonce } = message;
  return [from, to, value, validAfter, validBefore, nonce, signature];
}

/** A wallet with gas. `mined` resolves when a transaction is in a block. */
export async function createWallet(chain: TestChain, key?: Hex) {
  const account = privateKeyToAccount(key ?? (await chain.newFundedKey()));
  const wallet = createWalletClient({
    account,
    chain: base,
    transport: http(chain.rpcUrl),
    pollingInterval: 20,
  }).extend(publicActions);
  return {
    address: account.address,
    wallet,
    mined: async (hash: Hex): Promise<bigint> => {
      const { status, blockNumber } = await wallet.waitForTransactionReceipt({ hash });
      if (status !== 'success') throw new Error(`${hash} was reverted`);
      return blockNumber;
    },
  };
}

/** Settles one payment the way a facilitator does. */
export async function settle(chain: TestChain, payer: Payer, to: Address): Promise<void> {
  const { wallet, mined } = await createWallet(chain);
  const args = await authorize(chain, payer, to);
  const token = { address: chain.token, abi: tokenAbi };
  await mined(
    await wallet.writeContract({ ...token, functionName: 'transferWithAuthorization', args }),
  );
}

/** Sends coins by a plain transfer, which settles no payment. */
export async function transfer(chain: TestChain, to: Address): Promise<void> {
  const { wallet, mined, address } = await createWallet(chain);
  await chain.mint(address, AMOUNT);
  const token = { address: chain.token, abi: tokenAbi };
  await mined(
    await wallet.writeContract({ ...token, functionName: 'transfer', args: [to, AMOUNT] }),
  );
}
