/** Sends the transactions of the account that settles, and broadcasts them until they are mined. */
import { type Hex, keccak256, type LocalAccount, type PublicClient } from 'viem';
import { findNodeError } from '../../../scanner/third-parties/node-answers.ts';
import type { NodeRequests } from '../chain/node-requests.ts';
import { type ChainReceipt, createChainClient, readReceipt } from '../chain/payment-proof.ts';
import type { PaymentTiming } from '../timing.ts';
import type { AccountStatus, SettleOutcome } from './facilitator.ts';

export type NonceQueueOptions = {
  readonly node: NodeRequests;
  readonly account: LocalAccount;
  readonly chainId: number;
  readonly timing: PaymentTiming;
};

/** Wei for one unit of gas (EIP-1559). */
type GasFee = {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
};

type ContractCall = {
  /** Names the payment that the call settles. */
  readonly key: string;
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
};

export type SentTransaction = {
  readonly nonce: number;
  readonly call: ContractCall;
  readonly hash: Hex;
  /** The signed bytes. Each broadcast sends the same bytes. */
  readonly raw: Hex;
  readonly firstSentMs: number;
  lastSentMs: number;
  /** Number of polls that found the nonce used, but no receipt. */
  pollsWithoutReceipt: number;
  /** Resolves to the receipt, or to null if another transaction has used the nonce. */
  readonly receipt: PromiseWithResolvers<ChainReceipt | null>;
};

type NotSent = Extract<SettleOutcome, { readonly kind: 'not_sent' }>;

/** The time of one block of Base. */
const FEE_LIFETIME_MS = 2_000;
/** Base fees in the fee cap. The chain charges the real base fee, so a cap above a future rise costs nothing. */
const BASE_FEES_IN_CAP = 10n;
/** A node may count a nonce before it has the receipt. After 10 s of polls, another transaction has used the nonce. */
const MAX_POLLS_WITHOUT_RECEIPT = 20;
const MAX_SEND_ATTEMPTS = 4;

/** Never replaces a transaction, but broadcasts the same bytes until the chain decides, so a payment has one hash. */
export class NonceQueue {
  readonly #options: NonceQueueOptions;
  readonly #client: PublicClient;
  readonly #sent: SentTransaction[] = [];
  /** Resolves when the last call was sent, or could not be sent. Never rejects. */
  #lastSend: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #fee: { readonly fee: GasFee; readonly atMs: number } | null = null;
  #nonceGap = 0;
  #inheritedCount = 0;

  constructor(options: NonceQueueOptions) {
    this.#options = options;
    this.#client = createChainClient(options.node);
  }

  /** Number of unmined transactions of an earlier process. We do not know whose payments they settle. */
  get inheritedCount(): number {
    return this.#inheritedCount;
  }

  /** Age of the oldest unconfirmed transaction; 0 if there is none. */
  get oldestAgeMs(): number {
    const [oldest] = this.#sent;
    return oldest === undefined ? 0 : performance.now() - oldest.firstSentMs;
  }

  status(): Omit<AccountStatus, 'balance'> {
    const unconfirmedCount = this.#sent.length;
    return { unconfirmedCount, oldestUnconfirmedMs: this.oldestAgeMs, nonceGap: this.#nonceGap };
  }

  findUnconfirmed(key: string): SentTransaction | null {
    return this.#sent.find(({ call }) => call.key === key) ?? null;
  }

  /** Returns the current fee, which is cached for the time of a block. Rejects like a viem client. */
  async readFee(): Promise<GasFee> {
    const cached = this.#fee;
    if (cached !== null && performance.now() - cached.atMs < FEE_LIFETIME_MS) return cached.fee;
    const [{ baseFeePerGas }, tip] = await Promise.all([
      this.#client.getBlock(),
      this.#client.estimateMaxPriorityFeePerGas({ chain: null }),
    ]);
    const maxFeePerGas = (baseFeePerGas ?? 0n) * BASE_FEES_IN_CAP + tip;
    const fee = { maxFeePerGas, maxPriorityFeePerGas: tip };
    this.#fee = { fee, atMs: performance.now() };
    return fee;
  }

  /**
   * Sends the call with the next nonce. If a transaction of this key is unconfirmed, resolves to that transaction
   * instead. Resolves to an outcome if the node has no transaction of the call. Never rejects.
   */
  send(call: ContractCall): Promise<SentTransaction | NotSent> {
    const sending = this.#lastSend.then(() => this.#sendNow(call));
    this.#lastSend = sending;
    return sending;
  }

  /** Counts the unmined transactions of an earlier process. Rejects like a viem client. */
  async open(): Promise<void> {
    await this.#refreshCounts();
    // If this process has sent nothing, an earlier one sent the transactions in the gap.
    if (this.#sent.length === 0) this.#inheritedCount = this.#nonceGap;
    this.#schedulePoll();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #sendNow(call: ContractCall): Promise<SentTransaction | NotSent> {
    const { node, account, chainId } = this.#options;
    const unconfirmed = this.findUnconfirmed(call.key);
    if (unconfirmed !== null) return unconfirmed;
    const { to, data, gas } = call;
    try {
      const fee = await this.readFee();
      let nonce = await this.#findNextNonce();
      for (let attempt = 1; attempt <= MAX_SEND_ATTEMPTS; attempt++) {
        const transaction = { type: 'eip1559', chainId, nonce, to, data, gas, ...fee } as const;
        const raw = await account.signTransaction(transaction);
        const result = await broadcast(node, raw);
        if (result.kind === 'refused') return { kind: 'not_sent', reason: result.reason };
        if (result.kind === 'sent') return this.#add(nonce, call, raw);
        nonce = Math.max(nonce + 1, await this.#findNextNonce());
      }
      return { kind: 'not_sent', reason: 'another sender uses the nonces of this account' };
    } catch {
      return { kind: 'not_sent', reason: 'RPC_URL does not answer' };
    }
  }

  async #findNextNonce(): Promise<number> {
    const { latest, pending } = await this.#refreshCounts();
    const last = this.#sent.at(-1);
    // While a transaction of ours is unmined, `pending` may be too low, because the node has lost our broadcast. It may
    // also count transactions of another sender: a nonce after theirs would wait for bytes that we cannot repeat.
    return last === undefined ? Math.max(latest, pending) : Math.max(last.nonce + 1, latest);
  }

  /** Reads how many transactions of the account are mined, and how many with those that the node holds as pending. */
  async #refreshCounts(): Promise<{ readonly latest: number; readonly pending: number }> {
    const [latest, pending] = await Promise.all([
      this.#readCount('latest'),
      this.#readCount('pending'),
    ]);
    const next = Math.max((this.#sent.at(-1)?.nonce ?? -1) + 1, latest);
    this.#nonceGap = Math.max(0, pending - next);
    // The node may have dropped some of the inherited transactions.
    this.#inheritedCount = Math.min(this.#inheritedCount, Math.max(0, pending - latest));
    return { latest, pending };
  }

  #readCount(blockTag: 'latest' | 'pending'): Promise<number> {
    return this.#client.getTransactionCount({ address: this.#options.account.address, blockTag });
  }

  #add(nonce: number, call: ContractCall, raw: Hex): SentTransaction {
    const nowMs = performance.now();
    const sent: SentTransaction = {
      nonce,
      call,
      hash: keccak256(raw),
      raw,
      firstSentMs: nowMs,
      lastSentMs: nowMs,
      pollsWithoutReceipt: 0,
      receipt: Promise.withResolvers<ChainReceipt | null>(),
    };
    this.#sent.push(sent);
    this.#schedulePoll();
    return sent;
  }

  #schedulePoll(): void {
    const isIdle = this.#sent.length === 0 && this.#inheritedCount === 0;
    if (this.#timer !== null || this.#isStopped || isIdle) return;
    this.#timer = setTimeout(async () => {
      // If the node does not answer, the next poll asks it again.
      await this.#poll().catch(() => undefined);
      this.#timer = null;
      this.#schedulePoll();
    }, this.#options.timing.pollIntervalMs);
    this.#timer.unref();
  }

  /** Ends the transactions that are mined, and broadcasts the oldest of the others again. */
  async #poll(): Promise<void> {
    const latest =
      this.#inheritedCount > 0
        ? (await this.#refreshCounts()).latest
        : await this.#readCount('latest');
    for (const sent of [...this.#sent]) {
      if (sent.nonce < latest) await this.#endIfMined(sent);
    }
    const [oldest] = this.#sent;
    if (oldest === undefined || oldest.nonce < latest) return;
    // Only the oldest is broadcast again, because all later nonces wait for it.
    const { node, timing } = this.#options;
    if (performance.now() - oldest.lastSentMs < timing.repeatAfterMs) return;
    oldest.lastSentMs = performance.now();
    await broadcast(node, oldest.raw);
  }

  /** Resolves the receipt of a transaction whose nonce is used, to null if another transaction has used the nonce. */
  async #endIfMined(sent: SentTransaction): Promise<void> {
    const receipt = await readReceipt(this.#options.node, sent.hash, sent.call.to);
    if (receipt === null) {
      sent.pollsWithoutReceipt += 1;
      if (sent.pollsWithoutReceipt < MAX_POLLS_WITHOUT_RECEIPT) return;
    }
    this.#sent.splice(this.#sent.indexOf(sent), 1);
    sent.receipt.resolve(receipt);
  }
}

/**
 * - `sent`: the node has the transaction, or its answer does not exclude that.
 * - `stale`: the nonce was already used on the chain.
 * - `refused`: the node has refused the transaction and gives a reason.
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
    // "underpriced": the fee is below the node's minimum, or another transaction has the same nonce.
    const isRefused = /insufficient funds|underpriced|replacement/i.test(answer);
    return isRefused ? { kind: 'refused', reason: answer } : { kind: 'sent' };
  }
}
