import type { Hex, LocalAccount, PublicClient } from 'viem';
import { clientOn } from '../chain/node-client.ts';
import type { NodeRequests } from '../chain/node-requests.ts';
import { readReceipt } from '../chain/payment-proof.ts';
import { currentFee, type GasFee, higherFee, isOver } from './gas-fee.ts';
import {
  broadcast,
  type Call,
  hashTransaction,
  type NonceEnd,
  type SentTransaction,
  signed,
} from './sent-transaction.ts';

export type NonceQueueOptions = {
  readonly node: NodeRequests;
  readonly account: LocalAccount;
  readonly chainId: number;
  /** Interval of looks at unconfirmed transactions; default 500 ms. */
  readonly pollIntervalMs?: number | undefined;
  /** Time after which an unmined transaction is replaced; default 30 s. */
  readonly replaceAfterMs?: number | undefined;
};

/** The transaction was not sent, because the account or its node is not ready. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

const POLL_INTERVAL_MS = 500;
const REPLACE_AFTER_MS = 30_000;
/** Interval of repeated broadcasts, because a node may have missed the first one. */
const REPEAT_AFTER_MS = 3_000;
const MAX_REPLACEMENTS = 4;
const MAX_FEE_TIMES = 10n;
/** A node may count a nonce before it shows the receipt. */
const LOOKS_FOR_RECEIPT = 20;
const TRIES = 4;

/**
 * Gives out nonces in order. A stuck or lost transaction is sent again at a higher fee, and in the end an
 * empty transaction takes its nonce, so that those behind it are not blocked.
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

  constructor(options: NonceQueueOptions) {
    this.#options = options;
    this.#client = clientOn(options.node);
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
  get adopted(): number {
    return this.#sent.filter(({ call }) => call === null).length;
  }

  /** Age of the oldest that is unconfirmed, ms; 0 where there is none. */
  get oldestMs(): number {
    const [oldest] = this.#sent;
    return oldest === undefined ? 0 : performance.now() - oldest.bornMs;
  }

  /** The transaction under way for a payment. */
  find(key: string): SentTransaction | null {
    return this.#sent.find(({ call }) => call?.key === key) ?? null;
  }

  /** The fee of this moment, read at most once in two seconds. Rejects as the client does. */
  async fee(): Promise<GasFee> {
    const known = this.#fee;
    if (known !== null && performance.now() - known.atMs < 2_000) return known.fee;
    const fee = await currentFee(this.#client);
    this.#fee = { fee, atMs: performance.now() };
    return fee;
  }

  /**
   * Gives the call the next nonce and sends it, once while it is under way. Rejects with `NotSent`,
   * and then nothing was.
   */
  send(call: Call): Promise<SentTransaction> {
    const sending = this.#turn.then(() => this.#sendNow(call));
    this.#turn = sending.catch(() => undefined);
    return sending;
  }

  /** Takes over what an earlier process has left pending. Rejects as the client does. */
  async adopt(): Promise<void> {
    const { latest, pending } = await this.#counts();
    if (this.#sent.length > 0) return;
    const fee = await this.fee();
    for (let nonce = latest; nonce < pending; nonce++) this.#add({ nonce, call: null, fee });
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #sendNow(call: Call): Promise<SentTransaction> {
    const { node, account, chainId } = this.#options;
    const known = this.find(call.key);
    if (known !== null) return known;
    try {
      let fee = await this.fee();
      let nonce = await this.#nextNonce();
      for (let tries = 1; tries <= TRIES; tries++) {
        const raw = await signed(account, chainId, { nonce, fee, call });
        const fate = await broadcast(node, raw);
        if (fate.kind === 'rejected') throw new NotSent(fate.reason);
        if (fate.kind === 'taken' || fate.kind === 'unheard') {
          return this.#add({ nonce, call, fee, raw, isUnheard: fate.kind === 'unheard' });
        }
        if (fate.kind === 'stale') nonce = Math.max(nonce + 1, await this.#nextNonce());
        else fee = higherFee(fee, fee);
      }
      throw new NotSent('another sender uses the nonces of this account');
    } catch (error) {
      throw error instanceof NotSent ? error : new NotSent('RPC_URL does not answer');
    }
  }

  async #nextNonce(): Promise<number> {
    const last = this.#sent.at(-1);
    const { latest, pending } = await this.#counts();
    if (last !== undefined) return Math.max(last.nonce + 1, latest);
    return Math.max(latest, pending);
  }

  async #counts(): Promise<{ latest: number; pending: number }> {
    const { address } = this.#options.account;
    const count = (blockTag: 'latest' | 'pending') =>
      this.#client.getTransactionCount({ address, blockTag });
    const [latest, pending] = await Promise.all([count('latest'), count('pending')]);
    const ours = (this.#sent.at(-1)?.nonce ?? latest - 1) + 1;
    this.#gap = Math.max(0, pending - Math.max(ours, latest));
    return { latest, pending };
  }

  #add(first: {
    readonly nonce: number;
    readonly call: Call | null;
    readonly fee: GasFee;
    readonly raw?: Hex;
    readonly isUnheard?: boolean;
  }): SentTransaction {
    const { nonce, call, fee, raw = null, isUnheard = false } = first;
    const nowMs = performance.now();
    const sent: SentTransaction = {
      nonce,
      call,
      hashes: raw === null ? [] : [hashTransaction(raw)],
      bornMs: nowMs,
      firstFee: fee,
      fee,
      raw: isUnheard ? raw : null,
      sentMs: nowMs,
      replacements: 0,
      isEmpty: call === null,
      looksWithoutReceipt: 0,
      ended: Promise.withResolvers<NonceEnd>(),
    };
    this.#sent.push(sent);
    this.#lookLater();
    return sent;
  }

  #lookLater(): void {
    if (this.#timer !== null || this.#isStopped || this.#sent.length === 0) return;
    this.#timer = setTimeout(async () => {
      // A node that does not answer is asked again at the next look.
      await this.#look().catch(() => undefined);
      this.#timer = null;
      this.#lookLater();
    }, this.#options.pollIntervalMs ?? POLL_INTERVAL_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const { address } = this.#options.account;
    const used = await this.#client.getTransactionCount({ address, blockTag: 'latest' });
    for (const sent of [...this.#sent]) {
      if (sent.nonce < used) await this.#end(sent);
    }
    const [head] = this.#sent;
    if (head === undefined || head.nonce < used) return;
    // Later transactions wait for this one alone.
    const { replaceAfterMs = REPLACE_AFTER_MS } = this.#options;
    const restedMs = performance.now() - head.sentMs;
    if (restedMs >= replaceAfterMs) await this.#replace(head);
    else if (head.raw !== null && restedMs >= Math.min(REPEAT_AFTER_MS, replaceAfterMs / 3)) {
      await this.#repeat(head, head.raw);
    }
  }

  async #end(sent: SentTransaction): Promise<void> {
    const { node } = this.#options;
    for (const hash of sent.hashes.toReversed()) {
      // Only calls have hashes.
      const receipt = sent.call && (await readReceipt(node, hash, sent.call.to));
      if (receipt === null) continue;
      return this.#close(sent, { kind: 'mined', transaction: hash, receipt });
    }
    sent.looksWithoutReceipt += 1;
    const isGone = sent.hashes.length === 0 || sent.looksWithoutReceipt >= LOOKS_FOR_RECEIPT;
    if (isGone || sent.isEmpty) this.#close(sent, { kind: 'taken' });
  }

  #close(sent: SentTransaction, end: NonceEnd): void {
    this.#sent.splice(this.#sent.indexOf(sent), 1);
    sent.ended.resolve(end);
  }

  /** Sends the call again at a higher fee; after the last try, sends an empty transaction instead. */
  async #replace(sent: SentTransaction): Promise<void> {
    const { account, chainId } = this.#options;
    const fee = higherFee(sent.fee, await this.fee());
    const isTriedEnough =
      sent.replacements >= MAX_REPLACEMENTS || isOver(fee, sent.firstFee, MAX_FEE_TIMES);
    if (isTriedEnough) sent.isEmpty = true;
    const call = sent.isEmpty ? null : sent.call;
    const raw = await signed(account, chainId, { nonce: sent.nonce, fee, call });
    sent.fee = fee;
    sent.replacements += 1;
    if (call !== null) sent.hashes.push(hashTransaction(raw));
    await this.#repeat(sent, raw);
  }

  async #repeat(sent: SentTransaction, raw: Hex): Promise<void> {
    sent.sentMs = performance.now();
    const fate = await broadcast(this.#options.node, raw);
    sent.raw = fate.kind === 'unheard' ? raw : null;
  }
}
