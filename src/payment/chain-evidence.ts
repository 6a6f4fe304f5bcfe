import {
  type Address,
  createPublicClient,
  type Hex,
  http,
  isAddressEqual,
  type Log,
  parseAbi,
  parseEventLogs,
} from 'viem';
import type { StoredPayment } from './ledger.ts';

/**
 * What the chain says of an authorization at its latest block. `isExpired`: that block's time is
 * past `validBefore`, so that no later block can use it.
 */
export type ChainVerdict =
  | { readonly kind: 'paid'; readonly transaction: Hex }
  /** Used up, and not to pay us: cancelled, or spent on another transfer. */
  | { readonly kind: 'spent_elsewhere'; readonly isExpired: boolean }
  /** Used up, and the node shows no event that says for what. */
  | { readonly kind: 'unexplained' }
  | { readonly kind: 'unused'; readonly isExpired: boolean };

export interface ChainEvidence {
  /** `sinceMs`: when the payment was claimed. Rejects while the node does not answer. */
  lookUp(payment: StoredPayment, sinceMs: number): Promise<ChainVerdict>;
}

/** EIP-3009, and ERC-20. */
const abi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);
const [, usedEvent, canceledEvent] = abi;

const RPC_TIMEOUT_MS = 5_000;
/** Clocks of chains and databases differ. */
const CLOCK_SLACK_MS = 10 * 60_000;
const FIRST_STEP_BACK = 256n;
/** Nodes refuse longer ranges of logs. */
const LOG_RANGE = 2_000n;

type Client = ReturnType<typeof connect>;

export function createChainEvidence(
  rpcUrl: string,
  { timeoutMs = RPC_TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): ChainEvidence {
  const client = connect(rpcUrl, timeoutMs);
  return { lookUp: (payment, sinceMs) => lookUp(client, payment, sinceMs) };
}

function connect(rpcUrl: string, timeoutMs: number) {
  return createPublicClient({
    cacheTime: 0,
    transport: http(rpcUrl, { timeout: timeoutMs, retryCount: 1 }),
  });
}

async function lookUp(
  client: Client,
  payment: StoredPayment,
  sinceMs: number,
): Promise<ChainVerdict> {
  const { from, nonce, validBefore } = payment.authorization;
  const address = payment.requirements.asset;
  const latest = await client.getBlock();
  const isExpired = latest.timestamp >= validBefore;
  // At that very block: a node behind a balancer may be older than the one that gave its time.
  const isUsed = await client.readContract({
    address,
    abi,
    functionName: 'authorizationState',
    args: [from, nonce],
    blockNumber: latest.number,
  });
  if (!isUsed) return { kind: 'unused', isExpired };

  const since = BigInt(Math.floor((sinceMs - CLOCK_SLACK_MS) / 1000));
  const first = await blockBefore(client, latest.number, since);
  const use = await findUse(client, payment, first, latest.number);
  if (use === null) return { kind: 'unexplained' };
  const transaction = use.transactionHash;
  if (use.eventName === 'AuthorizationCanceled' || transaction === null) {
    return { kind: 'spent_elsewhere', isExpired };
  }
  const { logs, status } = await client.getTransactionReceipt({ hash: transaction });
  const isOurs = status === 'success' && paysUs(logs, payment);
  return isOurs ? { kind: 'paid', transaction } : { kind: 'spent_elsewhere', isExpired };
}

/** A block that is older than `since` (seconds), or the first one. */
async function blockBefore(client: Client, latest: bigint, since: bigint): Promise<bigint> {
  for (let back = FIRST_STEP_BACK; ; back *= 4n) {
    if (back >= latest) return 0n;
    const { timestamp } = await client.getBlock({ blockNumber: latest - back });
    if (timestamp < since) return latest - back;
  }
}

/** Newest first. Nodes filter by payer and nonce: a busy token has thousands of these a minute. */
async function findUse(client: Client, payment: StoredPayment, first: bigint, latest: bigint) {
  const { from: authorizer, nonce } = payment.authorization;
  for (let toBlock = latest; toBlock >= first; toBlock -= LOG_RANGE) {
    const start = toBlock - LOG_RANGE + 1n;
    const range = {
      address: payment.requirements.asset,
      args: { authorizer, nonce },
      fromBlock: start > first ? start : first,
      toBlock,
    };
    const [used] = await client.getLogs({ ...range, event: usedEvent });
    if (used !== undefined) return used;
    const [canceled] = await client.getLogs({ ...range, event: canceledEvent });
    if (canceled !== undefined) return canceled;
  }
  return null;
}

/**
 * Whether this use of the nonce moved the price to us. A payer's own contract can use several
 * authorizations in one transaction, one of which pays: where there are several, the transfer that
 * follows the use at once is the one that belongs to it (FiatToken emits them in this order).
 */
function paysUs(logs: readonly Log[], { authorization, requirements }: StoredPayment): boolean {
  const ofToken = logs.filter((log) => isAddressEqual(log.address, requirements.asset));
  const events = parseEventLogs({ abi, logs: ofToken });
  const isOurTransfer = (event: (typeof events)[number] | undefined) =>
    event?.eventName === 'Transfer' &&
    isAddressEqual(event.args.from, authorization.from) &&
    isAddressEqual(event.args.to, requirements.payTo as Address) &&
    event.args.value === authorization.value;
  const uses = events.filter((event) => event.eventName === 'AuthorizationUsed');
  if (uses.length === 1) return events.some(isOurTransfer);
  const ourUse = events.findIndex(
    (event) =>
      event.eventName === 'AuthorizationUsed' &&
      event.args.nonce.toLowerCase() === authorization.nonce.toLowerCase() &&
      isAddressEqual(event.args.authorizer, authorization.from),
  );
  return isOurTransfer(events[ourUse + 1]);
}
