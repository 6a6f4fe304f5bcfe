/**
 * Finds settlements on the chain: `Transfer` logs of the asset to one address. A transfer counts only
 * when its transaction also has the payer's `AuthorizationUsed` (EIP-3009): any account can send coins,
 * but an x402 settlement emits both.
 */
import { BaseError, getAddress, type PublicClient } from 'viem';
import { findNodeError, isTooLong } from '../answers/node-error.ts';
import type { SettlementFacts } from '../model/observations.ts';
import { failed, type IndexAnswer, type RequestContext, WINDOW_DAYS } from './ask.ts';
import { type ChainFactsOptions, createChainClient, unreachable } from './evm-node.ts';
import { type Place, readSettlements, type SettlementOnChain } from './read-settlements.ts';

const DAY_SEC = 86_400;
/** Far above any check's threshold, so that a busy address is not counted to its end. */
const ENOUGH_SETTLEMENTS = 100;
const ENOUGH_PAYERS = 10;
/** Block ranges that public endpoints accept in one call, and that strict ones do. */
const BLOCKS_A_CALL = 10_000n;
const FEW_BLOCKS_A_CALL = 1_000n;
/** Divides a range whose logs are over the cap; 10,000 blocks become one in four calls. */
const NARROWING = 10n;
const MAX_CALLS = 20;

export async function settlementsInLogs(
  { rpcUrl, asset, chainTurn }: ChainFactsOptions & { readonly asset: string },
  address: string,
  context: RequestContext,
): Promise<IndexAnswer<SettlementFacts>> {
  try {
    const client = createChainClient(rpcUrl, context, chainTurn);
    const place = { asset: getAddress(asset), to: getAddress(address) };
    const { settlements, windowDays } = await readBack(client, place, context);
    const newest = settlements[0];
    const lastAt = newest === undefined ? null : await blockTime(client, newest.blockNumber);
    const counts = { settlements: settlements.length, payers: countPayers(settlements) };
    return { ok: true, value: { address, windowDays, ...counts, lastAt } };
  } catch (error) {
    return toFailure(error, new URL(rpcUrl).host);
  }
}

/** Reads the newest blocks first until calls, time or need end. */
async function readBack(
  client: PublicClient,
  place: Place,
  { deadline }: RequestContext,
): Promise<{ readonly settlements: readonly SettlementOnChain[]; readonly windowDays: number }> {
  const latest = await client.getBlock();
  const windowStart = latest.timestamp - BigInt(WINDOW_DAYS * DAY_SEC);
  const settlements: SettlementOnChain[] = [];
  let [toBlock, reached, blocksACall] = [latest.number, latest.timestamp, BLOCKS_A_CALL];
  for (let call = 0; call < MAX_CALLS; call += 1) {
    const isFirst = toBlock === latest.number;
    const fromBlock = toBlock >= blocksACall ? toBlock - blocksACall + 1n : 0n;
    let chunk: Awaited<ReturnType<typeof readSettlements>>;
    try {
      chunk = await readSettlements(client, place, { fromBlock, toBlock }, windowStart);
    } catch (error) {
      const narrower = narrowerRange(error, blocksACall, isFirst);
      // A partial result counts, with the window that it covers.
      if (narrower === null && !isFirst) break;
      if (narrower === null) throw error;
      blocksACall = narrower;
      continue;
    }
    settlements.push(...chunk.settlements);
    if (!chunk.isWhole) break;
    reached = chunk.firstTimestamp;
    if (fromBlock === 0n || reached <= windowStart) return { settlements, windowDays: WINDOW_DAYS };
    if (isEnough(settlements) || isTimeShort(deadline)) break;
    toBlock = fromBlock - 1n;
  }
  return { settlements, windowDays: daysBetween(reached, latest.timestamp) };
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

/** Null if the error is not for the width of the range, or it cannot be narrower. */
function narrowerRange(error: unknown, blocks: bigint, isFirst: boolean): bigint | null {
  if (isTooLong(error)) return blocks > 1n ? blocks / NARROWING : null;
  // The endpoint refused the call, most often for the width of its range.
  const isRefused = error instanceof BaseError && unreachable(error) === null;
  return isRefused && isFirst && blocks > FEW_BLOCKS_A_CALL ? FEW_BLOCKS_A_CALL : null;
}

async function blockTime(client: PublicClient, blockNumber: bigint): Promise<string> {
  const { timestamp } = await client.getBlock({ blockNumber });
  return new Date(Number(timestamp) * 1_000).toISOString();
}

/** Rounds down to a tenth: 29.97 days are not a full window. */
function daysBetween(from: bigint, to: bigint): number {
  return Math.min(WINDOW_DAYS, Math.floor((10 * Number(to - from)) / DAY_SEC) / 10);
}

function toFailure(error: unknown, name: string): IndexAnswer<never> {
  const cause = unreachable(error);
  if (cause !== null) return failed(cause.message, cause.quietMs);
  const failure = findNodeError(error);
  if (failure?.isTooLong) return failed(`${name}: ${failure.message}`);
  const reason = error instanceof Error ? error.name : 'unknown error';
  return failed(`${name} answered calls of the chain in no known form (${reason})`);
}
