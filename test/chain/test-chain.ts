/** A chain of one's own that official x402 clients take for Base: same chain id, USDC at its address. */
import {
  type Address,
  createTestClient,
  type Hex,
  http,
  pad,
  parseEther,
  publicActions,
  walletActions,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { base } from 'viem/chains';
import { startAnvil } from './anvil-process.ts';
import { compileContracts } from './compile-contracts.ts';
import { tokenAbi } from './token-abi.ts';

const USDC: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11';
const DEFAULT_BALANCE = 10_000_000n;

export interface Payer {
  privateKey: Hex;
  address: Address;
}

/** Its `address` is a contract (EIP-1271) that accepts what `ownerKey` signs. */
export interface ContractPayer {
  ownerKey: Hex;
  address: Address;
}

/** Amounts are base units of the token (6 decimals), times are seconds since 1970. */
export interface TestChain {
  rpcUrl: string;
  chainId: number;
  /** The CAIP-2 name of the chain. */
  network: `${string}:${string}`;
  token: Address;
  /** Holds gas, for the one facilitator that most tests have. */
  facilitatorKey: Hex;
  /** A further key that holds gas: two processes that send from one key collide on its nonces. */
  newFundedKey(): Promise<Hex>;
  /** An account without gas that holds tokens; default 10 USD. */
  newPayer(balance?: bigint): Promise<Payer>;
  newContractPayer(balance?: bigint): Promise<ContractPayer>;
  mint(to: Address, amount: bigint): Promise<void>;
  balanceOf(account: Address): Promise<bigint>;
  /** True as well for a nonce that its owner cancelled. */
  authorizationUsed(from: Address, nonce: Hex): Promise<boolean>;
  /** The time of the newest block. */
  blockTime(): Promise<bigint>;
  setNextBlockTime(time: bigint): Promise<void>;
  /** Lets time pass and mines a block, so that reads see it too. */
  increaseTime(seconds: number): Promise<void>;
  /** From here on transactions are broadcast and stay pending. Minting waits for a block, so mint before. */
  pauseMining(): Promise<void>;
  /** Mines what is pending and goes on as before. */
  resumeMining(): Promise<void>;
  pendingTransactions(): Promise<number>;
  stop(): Promise<void>;
}

/** Throws where `chainUnavailable()` says that no chain can run. */
export async function startChain(): Promise<TestChain> {
  const contracts = await compileContracts();
  const anvil = await startAnvil(base.id);
  const client = connect(anvil.rpcUrl);
  const payers = payerSource(client, contracts.ContractWallet);
  const token = { address: USDC, abi: tokenAbi };

  await client.setCode({ address: USDC, bytecode: contracts.Token });
  await client.setCode({ address: MULTICALL3, bytecode: contracts.Multicall });

  return {
    ...payers,
    rpcUrl: anvil.rpcUrl,
    chainId: base.id,
    network: `eip155:${base.id}`,
    token: USDC,
    facilitatorKey: await payers.newFundedKey(),
    balanceOf: (account) =>
      client.readContract({ ...token, functionName: 'balanceOf', args: [account] }),
    authorizationUsed: (from, nonce) =>
      client.readContract({ ...token, functionName: 'authorizationState', args: [from, nonce] }),
    blockTime: async () => (await client.getBlock()).timestamp,
    setNextBlockTime: (timestamp) => client.setNextBlockTimestamp({ timestamp }),
    increaseTime: async (seconds) => {
      await client.increaseTime({ seconds });
      await client.mine({ blocks: 1 });
    },
    pauseMining: () => client.setAutomine(false),
    resumeMining: async () => {
      await client.setAutomine(true);
      await client.mine({ blocks: 1 });
    },
    pendingTransactions: async () => (await client.getTxpoolStatus()).pending,
    stop: anvil.stop,
  };
}

function connect(rpcUrl: string) {
  return createTestClient({
    mode: 'anvil',
    chain: base,
    transport: http(rpcUrl),
    pollingInterval: 50,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
}

function payerSource(client: ReturnType<typeof connect>, walletCode: Hex) {
  async function newFundedKey(): Promise<Hex> {
    const key = generatePrivateKey();
    await client.setBalance({ address: privateKeyToAddress(key), value: parseEther('100') });
    return key;
  }

  async function mint(to: Address, amount: bigint): Promise<void> {
    const hash = await client.writeContract({
      // A sender for each mint: those of one sender collide on its nonces when made at once.
      account: privateKeyToAccount(await newFundedKey()),
      address: USDC,
      abi: tokenAbi,
      functionName: 'mint',
      args: [to, amount],
    });
    const { status } = await client.waitForTransactionReceipt({ hash });
    if (status !== 'success') throw new Error(`minting ${amount} for ${to} was reverted`);
  }

  async function newPayer(balance = DEFAULT_BALANCE): Promise<Payer> {
    const privateKey = generatePrivateKey();
    const address = privateKeyToAddress(privateKey);
    if (balance > 0n) await mint(address, balance);
    return { privateKey, address };
  }

  async function newContractPayer(balance = DEFAULT_BALANCE): Promise<ContractPayer> {
    const { privateKey: ownerKey, address: owner } = await newPayer(0n);
    const { address } = await newPayer(balance);
    await client.setCode({ address, bytecode: walletCode });
    await client.setStorageAt({ address, index: 0, value: pad(owner) });
    return { ownerKey, address };
  }

  return { mint, newFundedKey, newPayer, newContractPayer };
}
