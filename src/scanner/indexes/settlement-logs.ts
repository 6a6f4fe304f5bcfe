/**
 * Finds settlements on the chain: `Transfer` logs of the asset to one address. A transfer counts only if its transaction
 * also has the payer's `AuthorizationUsed` (EIP-3009). Any account can send coins, but an x402 settlement emits both.
 */
import {
  BaseError,
  getAddress,
  type Hex,
  type LogTopic,
  numberToHex,
  type PublicClient,
  pad,
  toEventSelector,
} from 'viem';
import type { SettlementFacts } from '../model/observations.ts';
import {
  findNodeError,
  isTooLong,
  NodeError,
  type NodeLog,
} from '../third-parties/node-answers.ts';
import { type RequestContext, type SourceAnswer, toFailure } from './ask.ts';
import { createChainClient, type EvmNodeOptions, findUnreachable } from './evm-node.ts';
import { WINDOW_DAYS } from './index-answers.ts';

const DAY_SEC = 86_400;
/** Reading stops when both counts are reached. They are far above the threshold of any check. */
const ENOUGH_SETTLEMENTS = 100;
const ENOUGH_PAYERS = 10;
/** Public endpoints accept the first number of blocks in one call. Strict endpoints accept only the second. */
const BLOCKS_PER_CALL = 10_000n;
const FEW_BLOCKS_PER_CALL = 1_000n;
/** Divisor of a range whose logs are over the size cap. Four divisions turn 10,000 blocks into one block. */
const NARROWING_FACTOR = 10n;
const MAX_CALLS = 20;
/** Both events have two indexed parameters. The first one is the payer. */
const TRANSFER_EVENT = toEventSelector('Transfer(address,address,uint256)');
const AUTHORIZATION_EVENT = toEventSelector('AuthorizationUsed(address,bytes32)');
/** The event's selector and its two parameters. */
const TOPIC_COUNT = 3;
/** Limit of senders in one filter. Nodes refuse filters with thousands of senders. */
const MAX_SENDERS = 200;

export async function findSettlementsInLogs(
  { rpcUrl, asset, chainTurn }: EvmNodeOptions & { readonly asset: string },
  address: string,
  context: RequestContext,
): Promise<SourceAnswer<SettlementFacts>> {
  try {
    const client = createChainClient(rpcUrl, context, chainTurn);
    const recipient = { asset: getAddress(asset), to: getAddress(address) };
    const { settlements, windowDays } = await readNewestFirst(client, recipient, context);
    const [newest] = settlements;
    const lastAt = newest === undefined ? null : await readBlockTime(client, newest.blockNumber);
    const counts = { settlements: settlements.length, payers: countPayers(settlements) };
    return { ok: true, value: { address, windowDays, ...counts, lastAt } };
  } catch (error) {
    return toChainFailure(error, new URL(rpcUrl).host);
  }
}

/** Reads the newest blocks first. Stops at the window's start, at a limit of calls or time, or if counts suffice. */
async function readNewestFirst(
  client: PublicClient,
  recipient: Recipient,
  { deadline }: RequestContext,
): Promise<{ readonly settlements: readonly SettlementOnChain[]; readonly windowDays: number }> {
  const latest = await client.getBlock();
  const windowStart = latest.timestamp - BigInt(WINDOW_DAYS * DAY_SEC);
  const settlements: SettlementOnChain[] = [];
  let [toBlock, blocksPerCall] = [latest.number, BLOCKS_PER_CALL];
  /** Timestamp of the oldest block that was read. */
  let oldestSec = latest.timestamp;
  for (let call = 0; call < MAX_CALLS; call += 1) {
    const isNewestRange = toBlock === latest.number;
    const fromBlock = toBlock >= blocksPerCall ? toBlock - blocksPerCall + 1n : 0n;
    let chunk: Awaited<ReturnType<typeof readSettlements>>;
    try {
      chunk = await readSettlements(client, recipient, { fromBlock, toBlock }, windowStart);
    } catch (error) {
      const fewerBlocks = narrowRange(error, blocksPerCall, isNewestRange);
      // The chunks that were read so far count, with the window that they cover.
      if (fewerBlocks === null && !isNewestRange) break;
      if (fewerBlocks === null) throw error;
      blocksPerCall = fewerBlocks;
      continue;
    }
    settlements.push(...chunk.settlements);
    // Some settlements of this chunk may be missing, so the window does not cover its blocks.
    if (!chunk.isComplete) break;
    oldestSec = chunk.firstTimestamp;
    if (fromBlock === 0n || oldestSec <= windowStart)
      return { settlements, windowDays: WINDOW_DAYS };
    if (isEnough(settlements) || isTimeShort(deadline)) break;
    toBlock = fromBlock - 1n;
  }
  return { settlements, windowDays: countDays(oldestSec, latest.timestamp) };
}

/** Reserves a third of the time for one more call: the newest settlement's timestamp. */
function isTimeShort(deadline: RequestContext['deadline']): boolean {
  return deadline.leftMs() < deadline.timeoutMs / 3;
}

function isEnough(settlements: readonly SettlementOnChain[]): boolean {
  return settlements.length >= ENOUGH_SETTLEMENTS && countPayers(settlements) >= ENOUGH_PAYERS;
}

function countPayers(settlements: readonly SettlementOnChain[]): number {
  return new Set(settlements.map(({ payer }) => payer)).size;
}

/** Returns a smaller number of blocks; null if the range did not cause the error, or cannot be narrowed. */
function narrowRange(error: unknown, blocks: bigint, isNewestRange: boolean): bigint | null {
  if (isTooLong(error)) return blocks > 1n ? blocks / NARROWING_FACTOR : null;
  // Most often, the endpoint refuses the newest range for its width. It accepted the width of each older range.
  const isRefused = error instanceof BaseError && findUnreachable(error) === null;
  return isRefused && isNewestRange && blocks > FEW_BLOCKS_PER_CALL ? FEW_BLOCKS_PER_CALL : null;
}

async function readBlockTime(client: PublicClient, blockNumber: bigint): Promise<string> {
  const { timestamp } = await client.getBlock({ blockNumber });
  return new Date(Number(timestamp) * 1_000).toISOString();
}

/** Rounds down to a tenth: 29.97 days are not a full window. */
function countDays(fromSec: bigint, toSec: bigint): number {
  return Math.min(WINDOW_DAYS, Math.floor((10 * Number(toSec - fromSec)) / DAY_SEC) / 10);
}

function toChainFailure(error: unknown, name: string): SourceAnswer<never> {
  const cause = findUnreachable(error);
  if (cause !== null) return toFailure(cause.message, cause.pauseMs);
  const failure = findNodeError(error);
  if (failure?.isTooLong) return toFailure(`${name}: ${failure.message}`);
  const reason = error instanceof Error ? error.name : 'unknown error';
  return toFailure(`${name} answered calls of the chain in no known form (${reason})`);
}

type SettlementOnChain = { readonly payer: string; readonly blockNumber: bigint };

type SettlementChunk = {
  /** Newest first, all within the window. */
  readonly settlements: readonly SettlementOnChain[];
  /** Timestamp of the range's first block, in seconds. */
  readonly firstTimestamp: bigint;
  /** False if there were too many senders for one filter. Settlements may then be missing. */
  readonly isComplete: boolean;
};

/** A token's address, and an address that receives payments in this token. */
type Recipient = { readonly asset: Hex; readonly to: Hex };

type BlockRange = { readonly fromBlock: bigint; readonly toBlock: bigint };

/**
 * Finds settlements to one address in a range of blocks. A settlement is a transfer that has an authorization. Throws
 * viem's errors.
 * @param windowStart in seconds; earlier settlements do not count
 */
async function readSettlements(
  client: PublicClient,
  { asset, to }: Recipient,
  range: BlockRange,
  windowStart: bigint,
): Promise<SettlementChunk> {
  const { fromBlock } = range;
  const readLogsWith = (topics: LogTopic[]) => readLogs(client, asset, range, topics);
  const [transfers, firstBlock] = await Promise.all([
    readLogsWith([TRANSFER_EVENT, null, pad(to)]),
    client.getBlock({ blockNumber: fromBlock }),
  ]);
  const senders = [...new Set(transfers.toReversed().map(({ account }) => account))];
  const payers = senders.slice(0, MAX_SENDERS);
  // One request covers all transfers. Receipts would need one request each.
  const authorizations =
    payers.length === 0 ? [] : await readLogsWith([AUTHORIZATION_EVENT, payers]);
  const unusedCounts = countPairs(authorizations.map(toPair));
  const settlements = transfers.toReversed().flatMap((log) => {
    const pair = toPair(log);
    const count = unusedCounts.get(pair) ?? 0;
    unusedCounts.set(pair, count - 1);
    return count > 0 ? [{ payer: log.account, blockNumber: log.blockNumber }] : [];
  });
  const isAllInWindow = settlements.length === 0 || firstBlock.timestamp >= windowStart;
  const startBlock = isAllInWindow
    ? fromBlock
    : await findFirstBlockSince(client, windowStart, range);
  return {
    settlements: settlements.filter(({ blockNumber }) => blockNumber >= startBlock),
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
