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

/** Both have two indexed parameters, of which the first is the payer. */
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');
const AUTHORIZATION_USED = toEventSelector('AuthorizationUsed(address,bytes32)');
const TOPICS = 3;
/** Senders per filter; nodes refuse filters of thousands. */
const MAX_SENDERS = 200;

export type SettlementOnChain = { readonly payer: string; readonly blockNumber: bigint };

export type SettlementChunk = {
  /** Newest first, all within the window. */
  readonly settlements: readonly SettlementOnChain[];
  /** Timestamp of the range's first block, in seconds. */
  readonly firstTimestamp: bigint;
  /** False when senders exceeded the limit, so settlements may be missing. */
  readonly isWhole: boolean;
};

/** The asset, and the address that is paid. */
export type Place = { readonly asset: Hex; readonly to: Hex };

type Range = { readonly fromBlock: bigint; readonly toBlock: bigint };

/**
 * Finds settlements to one address in a range of blocks: transfers paired with authorizations. Throws
 * viem's errors.
 * @param windowStart in seconds; earlier settlements do not count
 */
export async function readSettlements(
  client: PublicClient,
  { asset, to }: Place,
  range: Range,
  windowStart: bigint,
): Promise<SettlementChunk> {
  const { fromBlock } = range;
  const logs = (topics: LogTopic[]) => readLogs(client, asset, range, topics);
  const [transfers, first] = await Promise.all([
    logs([TRANSFER, null, pad(to)]),
    client.getBlock({ blockNumber: fromBlock }),
  ]);
  const senders = [...new Set(transfers.toReversed().map(({ account }) => account))];
  const filtered = senders.slice(0, MAX_SENDERS);
  // One request covers all transfers; receipts would take one call each.
  const authorizations = filtered.length === 0 ? [] : await logs([AUTHORIZATION_USED, filtered]);
  const unpaired = countPairs(authorizations.map(toPair));
  const settled = transfers.toReversed().flatMap((log) => {
    const pair = toPair(log);
    const left = unpaired.get(pair) ?? 0;
    unpaired.set(pair, left - 1);
    return left > 0 ? [{ payer: log.account, blockNumber: log.blockNumber }] : [];
  });
  const isAllInWindow = settled.length === 0 || first.timestamp >= windowStart;
  const start = isAllInWindow ? fromBlock : await firstBlockSince(client, windowStart, range);
  return {
    settlements: settled.filter(({ blockNumber }) => blockNumber >= start),
    firstTimestamp: first.timestamp,
    isWhole: senders.length <= MAX_SENDERS,
  };
}

/** `account` is the first indexed parameter, as a word. */
type AccountLog = {
  readonly account: Hex;
  readonly transaction: string;
  readonly blockNumber: bigint;
};

/** Not through viem's `getLogs`, which decodes every log on this thread. */
async function readLogs(
  client: PublicClient,
  address: Hex,
  { fromBlock, toBlock }: Range,
  topics: LogTopic[],
): Promise<readonly AccountLog[]> {
  const blocks = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) };
  const filter = { address, ...blocks, topics };
  const reply: unknown = await client.request({ method: 'eth_getLogs', params: [filter] });
  if (!Array.isArray(reply)) throw new NodeError('eth_getLogs: no logs');
  const logs: readonly NodeLog[] = reply; // made by `readNodeAnswer`
  return logs
    .filter((log) => log.topics.length === TOPICS)
    .map((log) => ({
      account: log.topics[1] as Hex, // one of three
      transaction: log.transactionHash,
      blockNumber: BigInt(log.blockNumber),
    }));
}

function toPair({ transaction, account }: AccountLog): string {
  return `${transaction} ${account}`;
}

/** An authorization settles one transfer, however many a transaction has. */
function countPairs(pairs: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const pair of pairs) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  return counts;
}

/**
 * Bisects by timestamp, because block times vary on some chains. Returns the block after the range when
 * no block is recent enough.
 */
async function firstBlockSince(
  client: PublicClient,
  timestamp: bigint,
  { fromBlock, toBlock }: Range,
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
