/**
 * Settlements on the chain itself: `Transfer` logs of the asset to one address. Only those count
 * whose transaction also carries `AuthorizationUsed` of the payer (EIP-3009): anybody can send
 * coins, but that pair is what settling an x402 payment leaves behind.
 */
import {
  createPublicClient,
  getAddress,
  http,
  type PublicClient,
  parseAbi,
  parseEventLogs,
} from 'viem';
import type { SettlementFacts } from '../probe/observations.ts';
import { type Answer, LOOK_TIMEOUT_MS } from './ask-json.ts';
import { WINDOW_DAYS } from './settlement-source.ts';

const EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
]);
/** What public endpoints answer for in one call. */
const BLOCKS_A_CALL = 10_000n;
const MAX_CALLS = 20;
/** Receipts are one call each: the newest are enough for every threshold of the checks. */
const MAX_RECEIPTS = 40;
const DAY_SEC = 86_400;

export type LogsSettings = { readonly rpcUrl: string; readonly asset: string };

type Transfer = {
  readonly from: `0x${string}`;
  readonly hash: `0x${string}`;
  readonly blockNumber: bigint;
};

export async function settlementsInLogs(
  { rpcUrl, asset }: LogsSettings,
  address: string,
): Promise<Answer<SettlementFacts>> {
  const client = createPublicClient({
    transport: http(rpcUrl, { timeout: LOOK_TIMEOUT_MS, retryCount: 0 }),
  });
  const name = new URL(rpcUrl).host;
  const deadline = performance.now() + LOOK_TIMEOUT_MS;
  try {
    const read = await readTransfers(client, getAddress(asset), getAddress(address), deadline);
    const settled = await keepSettlements(client, asset, read.transfers, deadline);
    const newest = settled[0];
    const lastAt = newest === undefined ? null : await blockTime(client, newest.blockNumber);
    return {
      ok: true,
      value: {
        address,
        windowDays: read.windowDays,
        settlements: settled.length,
        payers: new Set(settled.map(({ from }) => from)).size,
        lastAt: lastAt === null ? null : new Date(lastAt * 1_000).toISOString(),
      },
    };
  } catch (error) {
    const reason = error instanceof Error ? error.name : 'unknown error';
    return {
      ok: false,
      detail: `the RPC at ${name} did not answer in time or in form (${reason})`,
    };
  }
}

/** Newest blocks first, as far back as calls and time allow; the first block ends the search. */
async function readTransfers(
  client: PublicClient,
  asset: `0x${string}`,
  to: `0x${string}`,
  deadline: number,
): Promise<{ readonly transfers: readonly Transfer[]; readonly windowDays: number }> {
  const latest = await client.getBlock();
  const windowStart = Number(latest.timestamp) - WINDOW_DAYS * DAY_SEC;
  const transfers: Transfer[] = [];
  let toBlock = latest.number;
  let oldest = latest;
  for (let call = 0; call < MAX_CALLS && performance.now() < deadline; call += 1) {
    const fromBlock = toBlock >= BLOCKS_A_CALL ? toBlock - BLOCKS_A_CALL + 1n : 0n;
    const [logs, first] = await Promise.all([
      client.getLogs({
        address: asset,
        event: EVENTS[0],
        args: { to },
        fromBlock,
        toBlock,
        strict: true,
      }),
      client.getBlock({ blockNumber: fromBlock }),
    ]);
    for (const log of logs.toReversed()) {
      transfers.push({
        from: log.args.from,
        hash: log.transactionHash,
        blockNumber: log.blockNumber,
      });
    }
    oldest = first;
    if (fromBlock === 0n || Number(first.timestamp) <= windowStart) {
      return { transfers, windowDays: WINDOW_DAYS };
    }
    toBlock = fromBlock - 1n;
  }
  const seconds = Number(latest.timestamp - oldest.timestamp);
  return {
    transfers,
    windowDays: Math.min(WINDOW_DAYS, Math.round((10 * seconds) / DAY_SEC) / 10),
  };
}

async function keepSettlements(
  client: PublicClient,
  asset: string,
  transfers: readonly Transfer[],
  deadline: number,
): Promise<readonly Transfer[]> {
  if (performance.now() >= deadline) throw new Error('TimeoutError');
  const checked = await Promise.all(
    transfers.slice(0, MAX_RECEIPTS).map(async (transfer) => {
      const receipt = await client.getTransactionReceipt({ hash: transfer.hash });
      const used = parseEventLogs({
        abi: EVENTS,
        eventName: 'AuthorizationUsed',
        logs: receipt.logs,
      });
      const isSettlement = used.some(
        (log) =>
          log.address.toLowerCase() === asset.toLowerCase() &&
          log.args.authorizer === transfer.from,
      );
      return isSettlement ? transfer : null;
    }),
  );
  return checked.filter((transfer) => transfer !== null);
}

async function blockTime(client: PublicClient, blockNumber: bigint): Promise<number> {
  return Number((await client.getBlock({ blockNumber })).timestamp);
}
