/** Looks up on the chain how a payment in doubt ended, by receipts and by the log of its nonce (EIP-3009). */
import { type Hex, numberToHex, type PublicClient, pad, toEventSelector } from 'viem';
import { isTooLong, NodeError } from '../../../scanner/third-parties/node-answers.ts';
import { FINAL_AFTER_MS, type StoredPayment } from '../ledger/ledger.ts';
import type { NodeRequests } from './node-requests.ts';
import {
  createChainClient,
  isNonceUsed,
  judgeReceipt,
  type ReceiptVerdict,
  readReceipt,
} from './payment-proof.ts';

/**
 * - `isExpired`: the latest block is past `validBefore`, so no later block can use the authorization.
 * - `isFinal`: the latest block is so far past `validBefore` that no reorganisation can add an earlier use.
 */
export type ChainVerdict =
  | { readonly kind: 'paid'; readonly transaction: Hex }
  /** The authorization was cancelled, or spent on another transfer. */
  | { readonly kind: 'spent_elsewhere'; readonly isFinal: boolean }
  /** The authorization was used, but the node has no log of that use. */
  | { readonly kind: 'unexplained' }
  | {
      readonly kind: 'unused';
      readonly isExpired: boolean;
      readonly isFinal: boolean;
      /** True if the known transaction was mined and reverted. Another transaction would revert too. */
      readonly isReverted: boolean;
    };

/** Facts of the ledger that help to find a payment. */
type KnownFacts = {
  /** Database time of the claim, ms. */
  readonly sinceMs: number;
  /** Transaction that may have paid; null if the ledger has none. */
  readonly transaction: Hex | null;
};

export type ChainEvidence = {
  /** Rejects while the node does not answer. */
  lookUp(payment: StoredPayment, known: KnownFacts): Promise<ChainVerdict>;
  /**
   * Judges the receipt of a transaction; `absent` if the node has no receipt or a longer one than a transaction can
   * have, null if the node does not answer. Never rejects.
   */
  judgeTransaction(
    payment: StoredPayment,
    transaction: Hex,
  ): Promise<ReceiptVerdict | 'absent' | null>;
};

/** The clocks of chain and database may differ by this much. */
const CLOCK_SLACK_MS = 10 * 60_000;
/** First step back of the search for a block; each further step is four times as long. */
const FIRST_STEP_BLOCKS = 256n;
/** The search may return a block that is this much too early. To read these extra blocks costs at most two calls. */
const MAX_EXTRA_BLOCKS = 16n;

const USED_TOPIC = toEventSelector('AuthorizationUsed(address,bytes32)');
const CANCELED_TOPIC = toEventSelector('AuthorizationCanceled(address,bytes32)');
/** Limits of blocks in one call. Most nodes accept the larger number. The strictest nodes accept the smaller number. */
const MAX_RANGE_BLOCKS = 2_000n;
const MIN_RANGE_BLOCKS = 10n;
/** Limit of calls of one search. With the smallest range, so many calls cover at least a quarter of an hour. */
const MAX_CALLS = 60;

export function createChainEvidence(node: NodeRequests): ChainEvidence {
  const client = createChainClient(node);
  const findUse = createUseFinder(client);

  async function lookUp(
    payment: StoredPayment,
    { sinceMs, transaction }: KnownFacts,
  ): Promise<ChainVerdict> {
    const knownVerdict =
      transaction === null ? null : await judgeTransaction(node, payment, transaction);
    if (knownVerdict === 'pays' && transaction !== null) return { kind: 'paid', transaction };

    const { validBefore } = payment.authorization;
    const latest = await client.getBlock();
    const isExpired = latest.timestamp >= validBefore;
    const isFinal = latest.timestamp >= validBefore + BigInt(FINAL_AFTER_MS / 1000);
    // The call names the block, because another node behind the same load balancer may be at an older block.
    const isUsed = await isNonceUsed(client, payment, latest.number);
    if (!isUsed)
      return { kind: 'unused', isExpired, isFinal, isReverted: knownVerdict === 'reverted' };

    const sinceSec = BigInt(Math.floor((sinceMs - CLOCK_SLACK_MS) / 1000));
    const first = await findBlockBefore(client, latest.number, sinceSec);
    const use = await findUse(payment, first, latest.number);
    if (use === null) return { kind: 'unexplained' };
    if (use.isCancelled) return { kind: 'spent_elsewhere', isFinal };
    const receipt = await readReceipt(node, use.transaction, payment.requirements.asset);
    if (receipt === null)
      throw new NodeError('the node has no receipt of the transaction in its logs');
    return judgeReceipt(receipt, payment) === 'pays'
      ? { kind: 'paid', transaction: use.transaction }
      : { kind: 'spent_elsewhere', isFinal };
  }

  return {
    lookUp,
    judgeTransaction: (payment, transaction) => judgeTransaction(node, payment, transaction),
  };
}

/** Never rejects, because without a receipt the caller can still read the state of the nonce. */
async function judgeTransaction(
  node: NodeRequests,
  payment: StoredPayment,
  hash: Hex,
): Promise<ReceiptVerdict | 'absent' | null> {
  try {
    const receipt = await readReceipt(node, hash, payment.requirements.asset);
    return receipt === null ? 'absent' : judgeReceipt(receipt, payment);
  } catch (error) {
    // A longer receipt than a transaction can have proves nothing, so the payment stays in doubt.
    return isTooLong(error) ? 'absent' : null;
  }
}

/** Finds a block shortly before the time `sinceSec`, by steps back and then by bisection; block 0 if there is none. */
async function findBlockBefore(
  client: PublicClient,
  latest: bigint,
  sinceSec: bigint,
): Promise<bigint> {
  const isBefore = async (blockNumber: bigint) =>
    (await client.getBlock({ blockNumber })).timestamp < sinceSec;
  let [earlier, later] = [0n, latest];
  for (let stepBlocks = FIRST_STEP_BLOCKS; stepBlocks < latest; stepBlocks *= 4n) {
    if (await isBefore(latest - stepBlocks)) {
      earlier = latest - stepBlocks;
      break;
    }
    later = latest - stepBlocks;
  }
  while (later - earlier > MAX_EXTRA_BLOCKS) {
    const middle = (earlier + later) / 2n;
    if (await isBefore(middle)) earlier = middle;
    else later = middle;
  }
  return earlier;
}

/** Returns a search that remembers, for its next run, how many blocks the node accepts in one call. */
function createUseFinder(client: PublicClient) {
  let rangeBlocks = MAX_RANGE_BLOCKS;

  /** Searches from the oldest block, because most uses follow soon after the claim. Null if no log shows a use. */
  return async (payment: StoredPayment, first: bigint, latest: bigint) => {
    let fromBlock = first;
    for (let calls = 1; fromBlock <= latest; calls++) {
      if (calls > MAX_CALLS) throw new NodeError('more blocks than one search may ask for');
      const toBlock = smallerOf(fromBlock + rangeBlocks - 1n, latest);
      try {
        const use = await findUseInRange(client, payment, fromBlock, toBlock);
        if (use !== null) return use;
        fromBlock = toBlock + 1n;
      } catch (error) {
        // Each node words its refusal of a long range differently, so every failure shortens the range.
        if (rangeBlocks === MIN_RANGE_BLOCKS) {
          rangeBlocks = MAX_RANGE_BLOCKS; // nodes accept the smallest range, so this failure has another cause
          throw error;
        }
        const shorterRange = rangeBlocks / 4n;
        rangeBlocks = shorterRange > MIN_RANGE_BLOCKS ? shorterRange : MIN_RANGE_BLOCKS;
      }
    }
    return null;
  };
}

/** The node filters by payer and nonce, because a busy token has thousands of such logs a minute. */
async function findUseInRange(
  client: PublicClient,
  { authorization, requirements }: StoredPayment,
  fromBlock: bigint,
  toBlock: bigint,
) {
  const logs = await client.request({
    method: 'eth_getLogs',
    params: [
      {
        address: requirements.asset,
        fromBlock: numberToHex(fromBlock),
        toBlock: numberToHex(toBlock),
        topics: [[USED_TOPIC, CANCELED_TOPIC], pad(authorization.from), authorization.nonce],
      },
    ],
  });
  const log = logs.find(({ transactionHash }) => transactionHash !== null);
  if (log?.transactionHash == null) return null;
  return { transaction: log.transactionHash, isCancelled: log.topics[0] === CANCELED_TOPIC };
}

function smallerOf(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
