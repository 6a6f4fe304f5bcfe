/** Finds the proof of one payment in the receipt of a transaction. */

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
import { NodeError } from '../../../scanner/third-parties/node-answers.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import type { NodeRequests } from './node-requests.ts';

/** The parts of EIP-3009 and ERC-20 that we read. */
const tokenAbi = parseAbi([
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
 * Reads a receipt with the logs of one contract; null if the node has no receipt. Rejects with `NodeError`. Viem is
 * not used, because it would format every log, and a payer can add thousands of logs to their transaction.
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
  const { status, logs } = receipt as { status?: unknown; logs: readonly Log[] }; // `readNodeAnswer` makes the logs
  return { status: status === '0x0' ? 'reverted' : 'success', logs, transactionHash: hash };
}

/**
 * - `pays`: the transaction used this authorization and moved the price to us.
 * - `reverted`: the transaction was mined and moved nothing.
 * - `other`: the transaction succeeded and did not pay us by this authorization.
 */
export type ReceiptVerdict = 'pays' | 'reverted' | 'other';

export function judgeReceipt(
  { status, logs }: ChainReceipt,
  payment: StoredPayment,
): ReceiptVerdict {
  if (status === 'reverted') return 'reverted';
  return isPaymentToUs(logs, payment) ? 'pays' : 'other';
}

/**
 * True if the use of this nonce moved the price to us. A payer's own contract can use several authorizations in
 * one transaction. FiatToken emits each use directly before its transfer. After several uses, only the
 * transfer directly after ours counts.
 */
function isPaymentToUs(
  logs: readonly Log[],
  { authorization, requirements }: StoredPayment,
): boolean {
  const tokenLogs = logs.filter((log) => isAddressEqual(log.address, requirements.asset));
  const events = parseEventLogs({ abi: tokenAbi, logs: tokenLogs });
  const isOurTransfer = (event: (typeof events)[number] | undefined) =>
    event?.eventName === 'Transfer' &&
    isAddressEqual(event.args.from, authorization.from) &&
    isAddressEqual(event.args.to, requirements.payTo as Address) &&
    event.args.value === authorization.value;
  const useIndex = events.findIndex(
    (event) =>
      event.eventName === 'AuthorizationUsed' &&
      event.args.nonce.toLowerCase() === authorization.nonce.toLowerCase() &&
      isAddressEqual(event.args.authorizer, authorization.from),
  );
  if (useIndex < 0) return false;
  // A single use leaves no doubt, and tokens other than FiatToken may emit the two events in another order.
  const uses = events.filter((event) => event.eventName === 'AuthorizationUsed');
  return uses.length === 1 ? events.some(isOurTransfer) : isOurTransfer(events[useIndex + 1]);
}

/** Reads if the authorization was used or cancelled, by default in the latest block. Rejects if the node does not answer. */
export function isNonceUsed(
  client: PublicClient,
  { authorization, requirements }: StoredPayment,
  blockNumber?: bigint,
): Promise<boolean> {
  return client.readContract({
    address: requirements.asset,
    abi: tokenAbi,
    functionName: 'authorizationState',
    args: [authorization.from, authorization.nonce],
    ...(blockNumber === undefined ? {} : { blockNumber }),
  });
}

/** Creates a viem client that reads through our own requests. The client never retries, because its caller does. */
export function createChainClient(node: NodeRequests, pollingIntervalMs = 500): PublicClient {
  return createPublicClient({
    cacheTime: 0,
    // With ERC-3668 a contract could make viem fetch any URL.
    ccipRead: false,
    pollingInterval: pollingIntervalMs,
    transport: custom(node, { retryCount: 0 }),
  });
}
