import { type Hex, numberToHex, type PublicClient, pad, toEventSelector } from 'viem';
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

type Range = {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** In seconds; earlier settlements do not count. */
  readonly windowStart: bigint;
};

/**
 * Finds settlements to one address in a range of blocks: transfers paired with authorizations. Throws
 * viem's errors.
 */
export async function readSettlements(
  client: PublicClient,
  { asset, to }: { readonly asset: `0x${string}`; readonly to: `0x${string}` },
  { fromBlock, toBlock, windowStart }: Range,
): Promise<SettlementChunk> {
  const logs = (topics: readonly (Hex | readonly Hex[] | null)[]) =>
    readLogs(client, { asset, fromBlock, toBlock, topics });
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
  const start = isAllInWindow
    ? fromBlock
    : await firstBlockSince(client, windowStart, { fromBlock, toBlock });
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

type LogFilter = {
  readonly asset: Hex;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly topics: readonly (Hex | readonly Hex[] | null)[];
};

/** Not through viem's `getLogs`, which decodes every log on this thread. */
async function readLogs(
  client: PublicClient,
  { asset: address, fromBlock, toBlock, topics }: LogFilter,
): Promise<readonly AccountLog[]> {
  const [from, to] = [numberToHex(fromBlock), numberToHex(toBlock)];
  const filter = {
    address,
    fromBlock: from,
    toBlock: to,
    topics: [...topics] as (Hex | Hex[] | null)[],
  }; // viem writes nothing to it
  const reply: unknown = await client.request({ method: 'eth_getLogs', params: [filter] });
  if (!Array.isArray(reply)) throw new NodeError('eth_getLogs: no logs');
  const logs: readonly NodeLog[] = reply; // made by `readNodeAnswer`
  return logs.flatMap(({ topics: words, transactionHash, blockNumber }) =>
    words.length === TOPICS
      ? [
          {
            account: words[1] as Hex, // one of three
            transaction: transactionHash,
            blockNumber: BigInt(blockNumber),
          },
        ]
      : [],
  );
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
  { fromBlock, toBlock }: { readonly fromBlock: bigint; readonly toBlock: bigint },
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
