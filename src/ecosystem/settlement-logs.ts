/**
 * Settlements on the chain itself: `Transfer` logs of the asset to one address. Only those count
 * whose transaction also carries `AuthorizationUsed` of the payer (EIP-3009): any account can send
 * coins, but that pair is what settling an x402 payment leaves behind.
 */
import { BaseError, getAddress, type PublicClient } from 'viem';
import type { SettlementFacts } from '../model/observations.ts';
import { type Answer, failed, type RequestContext } from './ask.ts';
import { ChainUnreachable, createChainClient } from './chain-client.ts';
import type { LookupTurn } from './lookup-rate.ts';
import { readSettlements, type Settlement, type SettlementChunk } from './read-settlements.ts';
import { WINDOW_DAYS } from './settlement-window.ts';

export type LogsOptions = {
  readonly rpcUrl: string;
  readonly asset: string;
  readonly chainTurn?: LookupTurn | undefined;
};

const DAY_SEC = 86_400;
/** Far above what any check asks for: a busy address is not counted to its end. */
const ENOUGH_SETTLEMENTS = 100;
const ENOUGH_PAYERS = 10;
/** What public endpoints answer for in one call, and what the strict ones do. */
const BLOCKS_A_CALL = 10_000n;
const FEW_BLOCKS_A_CALL = 1_000n;
const MAX_CALLS = 20;

export async function settlementsInLogs(
  { rpcUrl, asset, chainTurn }: LogsOptions,
  address: string,
  context: RequestContext,
): Promise<Answer<SettlementFacts>> {
  try {
    const client = createChainClient(rpcUrl, context, chainTurn);
    const place = { asset: getAddress(asset), to: getAddress(address) };
    const { settlements, windowDays } = await readBack(client, place, context);
    const newest = settlements[0];
    const lastAt = newest === undefined ? null : await blockTimeMs(client, newest.blockNumber);
    return {
      ok: true,
      value: {
        address,
        windowDays,
        settlements: settlements.length,
        payers: new Set(settlements.map(({ payer }) => payer)).size,
        lastAt: lastAt === null ? null : new Date(lastAt).toISOString(),
      },
    };
  } catch (error) {
    return toFailure(error, new URL(rpcUrl).host);
  }
}

type Place = { readonly asset: `0x${string}`; readonly to: `0x${string}` };

/** Newest blocks first, as far back as calls, time and need go. */
async function readBack(
  client: PublicClient,
  place: Place,
  { deadline }: RequestContext,
): Promise<{ readonly settlements: readonly Settlement[]; readonly windowDays: number }> {
  const latest = await client.getBlock();
  const windowStart = latest.timestamp - BigInt(WINDOW_DAYS * DAY_SEC);
  const settlements: Settlement[] = [];
  let [toBlock, reached, blocksACall] = [latest.number, latest.timestamp, BLOCKS_A_CALL];
  for (let call = 0; call < MAX_CALLS; call += 1) {
    const isFirst = toBlock === latest.number;
    const fromBlock = toBlock >= blocksACall ? toBlock - blocksACall + 1n : 0n;
    let chunk: SettlementChunk;
    try {
      chunk = await readSettlements(client, place, { fromBlock, toBlock, windowStart });
    } catch (error) {
      // What was read is worth something: it is told with the window that it covers.
      if (!isFirst) break;
      if (blocksACall === FEW_BLOCKS_A_CALL || !isRefusal(error)) throw error;
      blocksACall = FEW_BLOCKS_A_CALL;
      continue;
    }
    settlements.push(...chunk.settlements);
    if (!chunk.isWhole) break;
    reached = chunk.firstTimestamp;
    if (fromBlock === 0n || reached <= windowStart) {
      return { settlements, windowDays: WINDOW_DAYS };
    }
    if (isEnough(settlements) || isTimeShort(deadline)) break;
    toBlock = fromBlock - 1n;
  }
  return { settlements, windowDays: daysBetween(reached, latest.timestamp) };
}

/** Leaves a third of the time for one more question: when the newest settlement was mined. */
function isTimeShort(deadline: RequestContext['deadline']): boolean {
  return deadline.leftMs() < deadline.timeoutMs / 3;
}

function isEnough(settlements: readonly Settlement[]): boolean {
  const payers = new Set(settlements.map(({ payer }) => payer)).size;
  return settlements.length >= ENOUGH_SETTLEMENTS && payers >= ENOUGH_PAYERS;
}

/** The endpoint answered, and said no: most often to the width of the range. */
function isRefusal(error: unknown): boolean {
  return error instanceof BaseError && !unreachable(error);
}

function unreachable(error: unknown): ChainUnreachable | null {
  if (!(error instanceof BaseError)) return null;
  const cause = error.walk((inner) => inner instanceof ChainUnreachable);
  return cause instanceof ChainUnreachable ? cause : null;
}

async function blockTimeMs(client: PublicClient, blockNumber: bigint): Promise<number> {
  return Number((await client.getBlock({ blockNumber })).timestamp) * 1_000;
}

/** To a tenth, rounded down: 29.97 days are no full window. */
function daysBetween(from: bigint, to: bigint): number {
  return Math.min(WINDOW_DAYS, Math.floor((10 * Number(to - from)) / DAY_SEC) / 10);
}

function toFailure(error: unknown, name: string): Answer<never> {
  const cause = unreachable(error);
  if (cause !== null) return failed(cause.message, cause.quietMs);
  const reason = error instanceof Error ? error.name : 'unknown error';
  return failed(`${name} answered calls of the chain in no known form (${reason})`);
}
