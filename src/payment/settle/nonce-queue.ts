/** The transactions of the account that settles: one nonce each, in order, broadcast until the chain has them. */
import { type Hex, keccak256, type LocalAccount, type PublicClient } from 'viem';
import { findNodeError } from '../../answers/node-error.ts';
import type { NodeRequests } from '../chain/node-requests.ts';
import { type ChainReceipt, createChainClient, readReceipt } from '../chain/payment-proof.ts';

export type NonceQueueOptions = {
  readonly node: NodeRequests;
  readonly account: LocalAccount;
  readonly chainId: number;
  /** Interval of looks at unconfirmed transactions; default 500 ms. */
  readonly pollIntervalMs?: number | undefined;
  /** Interval of repeated broadcasts, because a node may have lost the first one; default 3 s. */
  readonly repeatAfterMs?: number | undefined;
};

/** Wei for one unit of gas (EIP-1559). */
export type GasFee = {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
};

export type ContractCall = {
  /** The payment that it is for. */
  readonly key: string;
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
};

export type SentTransaction = {
  readonly nonce: number;
  readonly call: ContractCall;
  readonly hash: Hex;
  /** The signed bytes; a further broadcast sends the same ones. */
  readonly raw: Hex;
  readonly bornMs: number;
  sentMs: number;
  /** Looks that found the nonce used, and no receipt. */
  looksWithoutReceipt: number;
  /** Resolves to the receipt; to null if another transaction used the nonce. */
  readonly ended: PromiseWithResolvers<ChainReceipt | null>;
};

/** The transaction was not sent, because the account or its node is not ready. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

const POLL_INTERVAL_MS = 500;
const REPEAT_AFTER_MS = 3_000;
const FEE_LIFETIME_MS = 2_000;
/** The chain charges base fee and tip, never the cap: a high one lets a transaction outlive a rise of the base fee. */
const CAP_BASE_FEES = 10n;
/** A node may count a nonce before it shows the receipt. */
const LOOKS_FOR_RECEIPT = 20;
const TRIES = 4;

/**
 * Gives out nonces in order. A transaction is never replaced: the same bytes are broadcast until the chain decides,
 * so a payment has one hash.
 */
export class NonceQueue {
  readonly #options: NonceQueueOptions;
  readonly #client: PublicClient;
  readonly #sent: SentTransaction[] = [];
  #turn: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #fee: { readonly fee: GasFee; readonly atMs: number } | null = null;
  #gap = 0;
  /** Nonces that an earlier process has left pending. */
  #left = 0;

  constructor(options: NonceQueueOptions) {
    this.#options = options;
    this.#client = createChainClient(options.node);
  }

  /** Transactions that have not ended. */
  get unconfirmed(): number {
    return this.#sent.length;
  }

  /** Nonces that the node holds as pending and that are none of these. */
  get gap(): number {
    return this.#gap;
  }

  /** Unmined transactions of an earlier process, whose payments are not known. */
  get left(): number {
    return this.#left;
  }

  /** Age of the oldest that is unconfirmed, ms; 0 if there is none. */
  get oldestMs(): number {
    const [oldest] = this.#sent;
    return oldest === undefined ? 0 : performance.now() - oldest.bornMs;
  }

  /** The transaction under way for a payment. */
  find(key: string): SentTransaction | null {
    return this.#sent.find(({ call }) => call.key === key) ?? null;
  }

  /** The fee of this moment, read at most once in two seconds. Rejects as the client does. */
  async fee(): Promise<GasFee> {
    const known = this.#fee;
    if (known !== null && performance.now() - known.atMs < FEE_LIFETIME_MS) return known.fee;
    const [{ baseFeePerGas }, tip] = await Promise.all([
      this.#client.getBlock(),
      this.#client.estimateMaxPriorityFeePerGas({ chain: null }),
    ]);
    const maxFeePerGas = (baseFeePerGas ?? 0n) * CAP_BASE_FEES + tip;
    const fee = { maxFeePerGas, maxPriorityFeePerGas: tip };
    this.#fee = { fee, atMs: performance.now() };
    return fee;
  }

  /**
   * Sends the call with the next nonce; a call that is under way is not sent twice. Rejects with `NotSent`
   * only, and the node has no transaction of it then.
   */
  send(call: ContractCall): Promise<SentTransaction> {
    const sending = this.#turn.then(() => this.#sendNow(call));
    this.#turn = sending.catch(() => undefined);
    return sending;
  }

  /** Counts what an earlier process has left pending. Rejects as the client does. */
  async open(): Promise<void> {
    await this.#readCounts();
    if (this.#sent.length === 0) this.#left = this.#gap;
    this.#lookLater();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #sendNow(call: ContractCall): Promise<SentTransaction> {
    const { node, account, chainId } = this.#options;
    const known = this.find(call.key);
    if (known !== null) return known;
    const { to, data, gas } = call;
    try {
      const fee = await this.fee();
      let nonce = await this.#nextNonce();
      for (let tries = 1; tries <= TRIES; tries++) {
        const transaction = { type: 'eip1559', chainId, nonce, to, data, gas, ...fee } as const;
        const raw = await account.signTransaction(transaction);
        const result = await broadcast(node, raw);
        if (result.kind === 'refused') throw new NotSent(result.reason);
        if (result.kind === 'sent') return this.#add(nonce, call, raw);
        nonce = Math.max(nonce + 1, await this.#nextNonce());
      }
      throw new NotSent('another sender uses the nonces of this account');
    } catch (error) {
      throw error instanceof NotSent ? error : new NotSent('RPC_URL does not answer');
    }
  }

  async #nextNonce(): Promise<number> {
    const { latest, pending } = await this.#readCounts();
    const last = this.#sent.at(-1);
    return last === undefined ? Math.max(latest, pending) : Math.max(last.nonce + 1, latest);
  }

  async #readCounts(): Promise<{ readonly latest: number; readonly pending: number }> {
    const [latest, pending] = await Promise.all([this.#count('latest'), this.#count('pending')]);
    const next = Math.max((this.#sent.at(-1)?.nonce ?? -1) + 1, latest);
    this.#gap = Math.max(0, pending - next);
    // A node that drops them counts them no longer.
    this.#left = Math.min(this.#left, Math.max(0, pending - latest));
    return { latest, pending };
  }

  #count(blockTag: 'latest' | 'pending'): Promise<number> {
    return this.#client.getTransactionCount({ address: this.#options.account.address, blockTag });
  }

  #add(nonce: number, call: ContractCall, raw: Hex): SentTransaction {
    const nowMs = performance.now();
    const sent: SentTransaction = {
      nonce,
      call,
      hash: keccak256(raw),
      raw,
      bornMs: nowMs,
      sentMs: nowMs,
      looksWithoutReceipt: 0,
      ended: Promise.withResolvers<ChainReceipt | null>(),
    };
    this.#sent.push(sent);
    this.#lookLater();
    return sent;
  }

  #lookLater(): void {
    const isIdle = this.#sent.length === 0 && this.#left === 0;
    if (this.#timer !== null || this.#isStopped || isIdle) return;
    this.#timer = setTimeout(async () => {
      // A node that does not answer is asked again at the next look.
      await this.#look().catch(() => undefined);
      this.#timer = null;
      this.#lookLater();
    }, this.#options.pollIntervalMs ?? POLL_INTERVAL_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const latest = this.#left > 0 ? (await this.#readCounts()).latest : await this.#count('latest');
    for (const sent of [...this.#sent]) {
      if (sent.nonce < latest) await this.#end(sent);
    }
    const [head] = this.#sent;
    if (head === undefined || head.nonce < latest) return;
    // Later transactions wait only for this one.
    const { node, repeatAfterMs = REPEAT_AFTER_MS } = this.#options;
    if (performance.now() - head.sentMs < repeatAfterMs) return;
    head.sentMs = performance.now();
    await broadcast(node, head.raw);
  }

  async #end(sent: SentTransaction): Promise<void> {
    const receipt = await readReceipt(this.#options.node, sent.hash, sent.call.to);
    if (receipt === null) {
      sent.looksWithoutReceipt += 1;
      if (sent.looksWithoutReceipt < LOOKS_FOR_RECEIPT) return;
    }
    this.#sent.splice(this.#sent.indexOf(sent), 1);
    sent.ended.resolve(receipt);
  }
}

/**
 * - `sent`: the node has it, or did not say.
 * - `stale`: the chain has used this nonce.
 * - `refused`: the node has not taken it, and says why.
 */
type BroadcastResult =
  | { readonly kind: 'sent' | 'stale' }
  | { readonly kind: 'refused'; readonly reason: string };

async function broadcast(node: NodeRequests, raw: Hex): Promise<BroadcastResult> {
  try {
    await node.request({ method: 'eth_sendRawTransaction', params: [raw] });
    return { kind: 'sent' };
  } catch (error) {
    const answer = findNodeError(error)?.message ?? '';
    if (/nonce too low|nonce is too low|OldNonce/i.test(answer)) return { kind: 'stale' };
    // An underpriced one is under the node's least fee, or meets another transaction at its nonce.
    const isRefused = /insufficient funds|underpriced|replacement/i.test(answer);
    return isRefused ? { kind: 'refused', reason: answer } : { kind: 'sent' };
  }
}
