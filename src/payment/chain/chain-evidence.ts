/** Looks up on the chain how a payment in doubt ended. */
import type { Hex, PublicClient } from 'viem';
import type { StoredPayment } from '../ledger/ledger.ts';
import { FINAL_AFTER_MS } from './final-after.ts';
import { clientOn } from './node-client.ts';
import type { NodeRequests } from './node-requests.ts';
import { NonceUses } from './nonce-use.ts';
import { judgeReceipt, type Proof, tokenAbi } from './payment-proof.ts';

/**
 * `isFinal`: read at a block so far past `validBefore` that no reorganisation will bring an earlier
 * use of the authorization. `isExpired`: past `validBefore`, so that no later block can use it.
 */
export type ChainVerdict =
  | { readonly kind: 'paid'; readonly transaction: Hex }
  /** Used up, and not to pay us: cancelled, or spent on another transfer. */
  | { readonly kind: 'spent_elsewhere'; readonly isFinal: boolean }
  /** Used up, and the node shows no event that says for what. */
  | { readonly kind: 'unexplained' }
  | {
      readonly kind: 'unused';
      readonly isExpired: boolean;
      readonly isFinal: boolean;
      /** The transaction that we know of was mined and moved nothing: another would do the same. */
      readonly isReverted: boolean;
    };

export type LookUp = {
  /** Time of the claim, ms. */
  readonly sinceMs: number;
  /** The transaction that the ledger knows, asked for first; null where none was told. */
  readonly transaction: Hex | null;
};

export type ChainEvidence = {
  /** Rejects while the node does not answer. */
  lookUp(payment: StoredPayment, known: LookUp): Promise<ChainVerdict>;
  /**
   * Reads the proof in a receipt; `absent` where the node has none, null where it does not answer. Never
   * rejects.
   */
  prove(payment: StoredPayment, transaction: Hex): Promise<Proof | 'absent' | null>;
};

/** Clocks of chains and databases differ. */
const CLOCK_SLACK_MS = 10 * 60_000;
const FIRST_STEP_BACK = 256n;
/** Blocks; a search that is off by so many costs a strict node two calls. */
const NEAR_ENOUGH = 16n;

export function createChainEvidence(node: NodeRequests): ChainEvidence {
  const client = clientOn(node);
  const uses = new NonceUses(client);
  return {
    lookUp: (payment, known) => lookUp(client, uses, payment, known),
    prove: (payment, transaction) => proofBy(client, transaction, payment),
  };
}

async function lookUp(
  client: PublicClient,
  uses: NonceUses,
  payment: StoredPayment,
  { sinceMs, transaction }: LookUp,
): Promise<ChainVerdict> {
  const known = transaction === null ? null : await proofBy(client, transaction, payment);
  if (known === 'pays' && transaction !== null) return { kind: 'paid', transaction };

  const { from, nonce, validBefore } = payment.authorization;
  const latest = await client.getBlock();
  const isExpired = latest.timestamp >= validBefore;
  const isFinal = latest.timestamp >= validBefore + BigInt(FINAL_AFTER_MS / 1000);
  // At that very block: a node behind a balancer may be older than the one that gave its time.
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
  const receipt = await client.getTransactionReceipt({ hash: use.transaction });
  return judgeReceipt(receipt, payment) === 'pays'
    ? { kind: 'paid', transaction: use.transaction }
    : { kind: 'spent_elsewhere', isFinal };
}

/** Never rejects: without a receipt the state of the nonce is asked next. */
async function proofBy(
  client: PublicClient,
  hash: Hex,
  payment: StoredPayment,
): Promise<Proof | 'absent' | null> {
  try {
    return judgeReceipt(await client.getTransactionReceipt({ hash }), payment);
  } catch (error) {
    const isAbsent = error instanceof Error && error.name === 'TransactionReceiptNotFoundError';
    return isAbsent ? 'absent' : null;
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
