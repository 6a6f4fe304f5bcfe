/** Looks up on the chain how a payment in doubt ended. */
import type { Hex, PublicClient } from 'viem';
import { NodeError } from '../../answers/node-error.ts';
import { FINAL_AFTER_MS, type StoredPayment } from '../ledger/ledger.ts';
import type { NodeRequests } from './node-requests.ts';
import { NonceUseFinder } from './nonce-use.ts';
import {
  createChainClient,
  judgeReceipt,
  type ReceiptVerdict,
  readReceipt,
  tokenAbi,
} from './payment-proof.ts';

/**
 * `isExpired`: the block is past `validBefore`, so no later block can use the authorization. `isFinal`:
 * the block is so far past it that no reorganisation can add an earlier use.
 */
export type ChainVerdict =
  | { readonly kind: 'paid'; readonly transaction: Hex }
  /** The authorization was cancelled, or spent on another transfer. */
  | { readonly kind: 'spent_elsewhere'; readonly isFinal: boolean }
  /** The authorization was used, and the node shows no event of that use. */
  | { readonly kind: 'unexplained' }
  | {
      readonly kind: 'unused';
      readonly isExpired: boolean;
      readonly isFinal: boolean;
      /** The known transaction was mined and reverted; another one would revert too. */
      readonly isReverted: boolean;
    };

export type LookUp = {
  /** Time of the claim, ms. */
  readonly sinceMs: number;
  /** Looked up first; null if the ledger has no transaction. */
  readonly transaction: Hex | null;
};

export type ChainEvidence = {
  /** Rejects while the node does not answer. */
  lookUp(payment: StoredPayment, known: LookUp): Promise<ChainVerdict>;
  /**
   * Reads the proof in a receipt; `absent` if the node has none, null if it does not answer. Never
   * rejects.
   */
  prove(payment: StoredPayment, transaction: Hex): Promise<ReceiptVerdict | 'absent' | null>;
};

/** The clocks of chain and database may differ by this much. */
const CLOCK_SLACK_MS = 10 * 60_000;
const FIRST_STEP_BACK = 256n;
/** Blocks. Logs of this many more blocks cost at most two calls, even at a node that limits ranges. */
const NEAR_ENOUGH = 16n;

export function createChainEvidence(node: NodeRequests): ChainEvidence {
  const client = createChainClient(node);
  const uses = new NonceUseFinder(client);
  return {
    lookUp: (payment, known) => lookUp({ node, client, uses }, payment, known),
    prove: (payment, transaction) => proofBy(node, transaction, payment),
  };
}

type Chain = {
  readonly node: NodeRequests;
  readonly client: PublicClient;
  readonly uses: NonceUseFinder;
};

async function lookUp(
  { node, client, uses }: Chain,
  payment: StoredPayment,
  { sinceMs, transaction }: LookUp,
): Promise<ChainVerdict> {
  const known = transaction === null ? null : await proofBy(node, transaction, payment);
  if (known === 'pays' && transaction !== null) return { kind: 'paid', transaction };

  const { from, nonce, validBefore } = payment.authorization;
  const latest = await client.getBlock();
  const isExpired = latest.timestamp >= validBefore;
  const isFinal = latest.timestamp >= validBefore + BigInt(FINAL_AFTER_MS / 1000);
  // Names the block, because another node behind the balancer may be at an older one.
  const isUsed = await client.readContract({
    address: payment.requirements.asset,
    abi: tokenAbi,
    functionName: 'authorizationState',
    args: [from, nonce],
    blockNumber: latest.number,
  });
  if (!isUsed) return { kind: 'unused', isExpired, isFinal, isReverted: known === 'reverted' };

  const since = BigInt(Math.floor((sinceMs - CLOCK_SLACK_MS) / 1000));
  const first = await blockBefore(client, latest.number, since);
  const use = await uses.find(payment, { first, latest: latest.number });
  if (use === null) return { kind: 'unexplained' };
  if (use.isCancelled) return { kind: 'spent_elsewhere', isFinal };
  const receipt = await readReceipt(node, use.transaction, payment.requirements.asset);
  if (receipt === null)
    throw new NodeError('the node has no receipt of the transaction in its logs');
  return judgeReceipt(receipt, payment) === 'pays'
    ? { kind: 'paid', transaction: use.transaction }
    : { kind: 'spent_elsewhere', isFinal };
}

/** Never rejects, because the state of the nonce can still be read without a receipt. */
async function proofBy(
  node: NodeRequests,
  hash: Hex,
  payment: StoredPayment,
): Promise<ReceiptVerdict | 'absent' | null> {
  try {
    const receipt = await readReceipt(node, hash, payment.requirements.asset);
    return receipt === null ? 'absent' : judgeReceipt(receipt, payment);
  } catch {
    return null;
  }
}

/** A block shortly before `since` (seconds), or the first one. */
async function blockBefore(client: PublicClient, latest: bigint, since: bigint): Promise<bigint> {
  const isBefore = async (blockNumber: bigint) =>
    (await client.getBlock({ blockNumber })).timestamp < since;
  let [early, late] = [0n, latest];
  for (let back = FIRST_STEP_BACK; back < latest; back *= 4n) {
    if (await isBefore(latest - back)) {
      early = latest - back;
      break;
    }
    late = latest - back;
  }
  while (late - early > NEAR_ENOUGH) {
    const middle = (early + late) / 2n;
    if (await isBefore(middle)) early = middle;
    else late = middle;
  }
  return early;
}
