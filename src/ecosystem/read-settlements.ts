import { type PublicClient, parseAbiItem } from 'viem';

const TRANSFER = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
);
const AUTHORIZATION_USED = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
);
/** Senders per filter; nodes refuse filters of thousands. */
const MAX_SENDERS = 200;

export type Settlement = { readonly payer: `0x${string}`; readonly blockNumber: bigint };

export type SettlementChunk = {
  /** Newest first, all within the window. */
  readonly settlements: readonly Settlement[];
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
  const range = { address: asset, fromBlock, toBlock, strict: true } as const;
  const [transfers, first] = await Promise.all([
    client.getLogs({ ...range, event: TRANSFER, args: { to } }),
    client.getBlock({ blockNumber: fromBlock }),
  ]);
  const senders = [...new Set(transfers.toReversed().map(({ args }) => args.from))];
  const asked = senders.slice(0, MAX_SENDERS);
  // One request covers all transfers; receipts would take one call each.
  const authorizations =
    asked.length === 0
      ? []
      : await client.getLogs({ ...range, event: AUTHORIZATION_USED, args: { authorizer: asked } });
  const unpaired = countPairs(authorizations.map((log) => toPair(log, log.args.authorizer)));
  const settled = transfers.toReversed().flatMap((log) => {
    const pair = toPair(log, log.args.from);
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

function toPair(log: { readonly transactionHash: string }, account: string): string {
  return `${log.transactionHash} ${account}`;
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
