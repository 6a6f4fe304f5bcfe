/** Proof of one payment in the receipt of a transaction. */

import {
  type Address,
  createPublicClient,
  custom,
  type Hex,
  isAddressEqual,
  type Log,
  type PublicClient,
  parseAbi,
  parseEventLogs,
} from 'viem';
import { NodeError } from '../../answers/node-error.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import type { NodeRequests } from './node-requests.ts';

/** EIP-3009, and ERC-20. */
export const tokenAbi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

export type ChainReceipt = {
  readonly status: 'success' | 'reverted';
  readonly logs: readonly Log[];
  readonly transactionHash: Hex;
};

/**
 * Reads a receipt, with the logs of one contract; null if the node has none. Rejects as the node does. It is not asked
 * for through viem, which formats every log: a payer can add thousands to their transaction.
 */
export async function readReceipt(
  node: NodeRequests,
  hash: Hex,
  contract: Address,
): Promise<ChainReceipt | null> {
  const method = 'eth_getTransactionReceipt';
  const receipt = await node.request({ method, params: [hash], contract });
  if (receipt === null) return null;
  if (typeof receipt !== 'object') throw new NodeError(`${method}: no receipt`);
  const { status, logs } = receipt as { status?: unknown; logs: readonly Log[] }; // kept so by `readNodeAnswer`
  return { status: status === '0x0' ? 'reverted' : 'success', logs, transactionHash: hash };
}

/**
 * - `pays`: it used this authorization, and moved the price to us.
 * - `reverted`: mined, and moved nothing.
 * - `other`: whatever it did, it did not pay us by this authorization.
 */
export type ReceiptVerdict = 'pays' | 'reverted' | 'other';

export function judgeReceipt(
  { status, logs }: ChainReceipt,
  payment: StoredPayment,
): ReceiptVerdict {
  if (status === 'reverted') return 'reverted';
  return paysUs(logs, payment) ? 'pays' : 'other';
}

/**
 * True if this use of the nonce moved the price to us. A payer's own contract can use several
 * authorizations in one transaction, one of which pays: if there are several, the transfer that
 * follows the use at once is the one that belongs to it (FiatToken emits them in this order).
 */
function paysUs(logs: readonly Log[], { authorization, requirements }: StoredPayment): boolean {
  const ofToken = logs.filter((log) => isAddressEqual(log.address, requirements.asset));
  const events = parseEventLogs({ abi: tokenAbi, logs: ofToken });
  const isOurTransfer = (event: (typeof events)[number] | undefined) =>
    event?.eventName === 'Transfer' &&
    isAddressEqual(event.args.from, authorization.from) &&
    isAddressEqual(event.args.to, requirements.payTo as Address) &&
    event.args.value === authorization.value;
  const ourUse = events.findIndex(
    (event) =>
      event.eventName === 'AuthorizationUsed' &&
      event.args.nonce.toLowerCase() === authorization.nonce.toLowerCase() &&
      isAddressEqual(event.args.authorizer, authorization.from),
  );
  if (ourUse < 0) return false;
  const uses = events.filter((event) => event.eventName === 'AuthorizationUsed');
  return uses.length === 1 ? events.some(isOurTransfer) : isOurTransfer(events[ourUse + 1]);
}

/** viem's reading half on requests of our own. It repeats nothing: the caller knows whether to ask again. */
export function createChainClient(requests: NodeRequests, pollingIntervalMs = 500): PublicClient {
  return createPublicClient({
    cacheTime: 0,
    // A contract could name any URL for viem to fetch (ERC-3668).
    ccipRead: false,
    pollingInterval: pollingIntervalMs,
    transport: custom(requests, { retryCount: 0 }),
  });
}
