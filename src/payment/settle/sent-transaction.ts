/** One nonce of the account, with every transaction that was sent for it. */
import type { Hex, LocalAccount } from 'viem';
import { keccak256 } from 'viem';
import { findNodeError } from '../../answers/node-error.ts';
import type { NodeRequests } from '../chain/node-requests.ts';
import type { Receipt } from '../chain/payment-proof.ts';
import type { GasFee } from './gas-fee.ts';

/** Call at a nonce; null for an empty transaction, which only takes the nonce. */
export type Call = {
  /** The payment that it is for. */
  readonly key: string;
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
};

/** End of a nonce: used by the call, or by an empty or a foreign transaction. */
export type NonceEnd =
  | { readonly kind: 'mined'; readonly transaction: Hex; readonly receipt: Receipt }
  | { readonly kind: 'taken' };

export type SentTransaction = {
  readonly nonce: number;
  /** Null for one that an earlier process has left. */
  readonly call: Call | null;
  /** Hashes of the call's transactions, newest last; any of them may be mined. */
  readonly hashes: Hex[];
  readonly bornMs: number;
  readonly firstFee: GasFee;
  fee: GasFee;
  /** The last signed bytes, for another broadcast where the first may not have been heard. */
  raw: Hex | null;
  sentMs: number;
  replacements: number;
  isEmpty: boolean;
  /** Looks that found the nonce used and no receipt of ours. */
  looksWithoutReceipt: number;
  readonly ended: PromiseWithResolvers<NonceEnd>;
};

/**
 * - `taken`: the node has it.
 * - `rejected`: the node has not, and says why.
 * - `stale`: this nonce was used before.
 * - `underpriced`: another transaction stands at this nonce.
 * - `unheard`: whether the node has it is not known.
 */
export type BroadcastFate =
  | { readonly kind: 'taken' | 'stale' | 'underpriced' }
  | { readonly kind: 'rejected' | 'unheard'; readonly reason: string };

/** Takes no more gas than a transfer of nothing. */
const EMPTY_GAS = 21_000n;

export function signed(
  account: LocalAccount,
  chainId: number,
  {
    nonce,
    fee,
    call,
  }: { readonly nonce: number; readonly fee: GasFee; readonly call: Call | null },
): Promise<Hex> {
  const { to, data, gas } = call ?? { to: account.address, data: '0x', gas: EMPTY_GAS };
  return account.signTransaction({ type: 'eip1559', chainId, nonce, to, data, gas, ...fee });
}

export function hashTransaction(raw: Hex): Hex {
  return keccak256(raw);
}

export async function broadcast(node: NodeRequests, raw: Hex): Promise<BroadcastFate> {
  try {
    await node.request({ method: 'eth_sendRawTransaction', params: [raw] });
    return { kind: 'taken' };
  } catch (error) {
    const said = findNodeError(error)?.message ?? 'failed';
    if (/already known|already imported|known transaction/i.test(said)) return { kind: 'taken' };
    if (/insufficient funds/i.test(said)) return { kind: 'rejected', reason: said };
    if (/nonce too low|nonce is too low|OldNonce/i.test(said)) return { kind: 'stale' };
    if (/underpriced|replacement/i.test(said)) return { kind: 'underpriced' };
    return { kind: 'unheard', reason: said };
  }
}
