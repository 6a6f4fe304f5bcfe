/** The settlements to one address in one range of blocks: transfers paired with authorizations. */
import { type PublicClient, parseAbiItem } from 'viem';

const TRANSFER = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
);
const AUTHORIZATION_USED = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
);
/** Senders in one filter; nodes refuse filters of thousands. */
const MAX_SENDERS = 200;

export type Settlement = { readonly payer: `0x${string}`; readonly blockNumber: bigint };

export type SettlementChunk = {
  /** Newest first, none from before the window. */
  readonly settlements: readonly Settlement[];
  /** Of the first block of the range, in seconds. */
  readonly firstTimestamp: bigint;
  /** False where it had more senders than can be looked up: there may be more settlements. */
  readonly isWhole: boolean;
};

type Range = {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** In seconds; settlements before it do not count. */
  readonly windowStart: bigint;
};

/** Throws what viem throws. */
export async function readSettlements(
  client: PublicClient,
  { asset, to }: { readonly asset: `0x${string}`; readonly to: `0x${string}` },
  { fromBlock, toBlock, windowStart }: Range,
): Promise<SettlementChunk> {
  const range = { address: asset, fromBlock, toBlock, strict: true } as const;
  const [transfers, first] = await Promise.all([
    client.getLogs({ ...range, event: TRANSFER, args: { to } }),
    client.getBlock({ blockNumber: fromBlock }),
  ]);
  const senders = [...new Set(transfers.toReversed().map(({ args }) => args.from))];
  const asked = senders.slice(0, MAX_SENDERS);
  // One question for all of them: a receipt for each transfer would be a call for each.
  const authorizations =
    asked.length === 0
      ? []
      : await client.getLogs({ ...range, event: AUTHORIZATION_USED, args: { authorizer: asked } });
  const unpaired = countPairs(authorizations.map((log) => pairOf(log, log.args.authorizer)));
  const settled = transfers.toReversed().flatMap((log) => {
    const pair = pairOf(log, log.args.from);
    const left = unpaired.get(pair) ?? 0;
    unpaired.set(pair, left - 1);
    return left > 0 ? [{ payer: log.args.from, blockNumber: log.blockNumber }] : [];
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

function pairOf(log: { readonly transactionHash: string }, account: string): string {
  return `${log.transactionHash} ${account}`;
}

/** One authorization settles one transfer, however many a transaction carries. */
function countPairs(pairs: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const pair of pairs) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  return counts;
}

/**
 * Halves the range, because blocks have no even distance on every chain. Returns the block after the
 * range where none is.
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
