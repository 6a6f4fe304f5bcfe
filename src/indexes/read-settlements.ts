import {
  type Hex,
  type LogTopic,
  numberToHex,
  type PublicClient,
  pad,
  toEventSelector,
} from 'viem';
import type { NodeLog } from '../answers/node-answers.ts';
import { NodeError } from '../answers/node-error.ts';

/** Both events have two indexed parameters. The first one is the payer. */
const TRANSFER_EVENT = toEventSelector('Transfer(address,address,uint256)');
const AUTHORIZATION_EVENT = toEventSelector('AuthorizationUsed(address,bytes32)');
const TOPIC_COUNT = 3;
/** Limit of senders in one filter. Nodes refuse filters with thousands of senders. */
const MAX_SENDERS = 200;

export type SettlementOnChain = { readonly payer: string; readonly blockNumber: bigint };

export type SettlementChunk = {
  /** Newest first, all within the window. */
  readonly settlements: readonly SettlementOnChain[];
  /** Timestamp of the range's first block, in seconds. */
  readonly firstTimestamp: bigint;
  /** False if there were too many senders for one filter. Settlements may then be missing. */
  readonly isComplete: boolean;
};

/** A token's address, and an address that receives payments in this token. */
export type Recipient = { readonly asset: Hex; readonly to: Hex };

type BlockRange = { readonly fromBlock: bigint; readonly toBlock: bigint };

/**
 * Finds settlements to one address in a range of blocks. A settlement is a transfer that has an authorization. Throws
 * viem's errors.
 * @param windowStart in seconds; earlier settlements do not count
 */
export async function readSettlements(
  client: PublicClient,
  { asset, to }: Recipient,
  range: BlockRange,
  windowStart: bigint,
): Promise<SettlementChunk> {
  const { fromBlock } = range;
  const logs = (topics: LogTopic[]) => readLogs(client, asset, range, topics);
  const [transfers, firstBlock] = await Promise.all([
    logs([TRANSFER_EVENT, null, pad(to)]),
    client.getBlock({ blockNumber: fromBlock }),
  ]);
  const senders = [...new Set(transfers.toReversed().map(({ account }) => account))];
  const payers = senders.slice(0, MAX_SENDERS);
  // One request covers all transfers. Receipts would need one request each.
  const authorizations = payers.length === 0 ? [] : await logs([AUTHORIZATION_EVENT, payers]);
  const unusedCounts = countPairs(authorizations.map(toPair));
  const settled = transfers.toReversed().flatMap((log) => {
    const pair = toPair(log);
    const count = unusedCounts.get(pair) ?? 0;
    unusedCounts.set(pair, count - 1);
    return count > 0 ? [{ payer: log.account, blockNumber: log.blockNumber }] : [];
  });
  const isAllInWindow = settled.length === 0 || firstBlock.timestamp >= windowStart;
  const startBlock = isAllInWindow
    ? fromBlock
    : await findFirstBlockSince(client, windowStart, range);
  return {
    settlements: settled.filter(({ blockNumber }) => blockNumber >= startBlock),
    firstTimestamp: firstBlock.timestamp,
    isComplete: senders.length <= MAX_SENDERS,
  };
}

/** `account` is the first indexed parameter, padded to 32 bytes. */
type AccountLog = {
  readonly account: Hex;
  readonly transaction: string;
  readonly blockNumber: bigint;
};

/** Does not use viem's `getLogs`, which would decode every log on this thread. */
async function readLogs(
  client: PublicClient,
  address: Hex,
  { fromBlock, toBlock }: BlockRange,
  topics: LogTopic[],
): Promise<readonly AccountLog[]> {
  const blocks = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) };
  const filter = { address, ...blocks, topics };
  const reply: unknown = await client.request({ method: 'eth_getLogs', params: [filter] });
  if (!Array.isArray(reply)) throw new NodeError('eth_getLogs: no logs');
  const logs: readonly NodeLog[] = reply; // made by `readNodeAnswer`
  return logs
    .filter((log) => log.topics.length === TOPIC_COUNT)
    .map((log) => ({
      account: log.topics[1] as Hex, // each log here has three topics
      transaction: log.transactionHash,
      blockNumber: BigInt(log.blockNumber),
    }));
}

function toPair({ transaction, account }: AccountLog): string {
  return `${transaction} ${account}`;
}

/** Counts the authorizations of each pair, because one authorization settles only one transfer. */
function countPairs(pairs: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const pair of pairs) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  return counts;
}

/**
 * Bisects by timestamp, because block times vary on some chains. If no block is recent enough, returns the number after
 * the range.
 */
async function findFirstBlockSince(
  client: PublicClient,
  timestamp: bigint,
  { fromBlock, toBlock }: BlockRange,
): Promise<bigint> {
  let [low, high] = [fromBlock, toBlock + 1n];
  while (low < high) {
    const middle = (low + high) / 2n;
    const block = await client.getBlock({ blockNumber: middle });
    if (block.timestamp >= timestamp) high = middle;
    else low = middle + 1n;
  }
  return low;
}
