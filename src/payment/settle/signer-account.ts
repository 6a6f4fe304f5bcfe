import { formatEther, type Hex, type PublicClient } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describeNodeError, type NodeRequests } from '../chain/node-requests.ts';
import { createChainClient } from '../chain/payment-proof.ts';
import type { AccountStatus } from './facilitator.ts';
import { NonceQueue } from './nonce-queue.ts';

export type SignerAccountOptions = {
  readonly node: NodeRequests;
  readonly settlementKey: Hex;
  readonly chainId: number;
  readonly pollIntervalMs?: number | undefined;
  readonly repeatAfterMs?: number | undefined;
  /** A transaction that is unconfirmed for longer makes the service take no payments; default 60 s. */
  readonly stuckAfterMs?: number | undefined;
  /** Interval of looks at the balance; default 30 s. */
  readonly balanceIntervalMs?: number | undefined;
};

/** Gas limit of every settlement. */
export const MAX_GAS = 300_000n;
/** Payments stop while there is still time to fill the account up. */
const MIN_SETTLEMENTS = 20n;
const STUCK_AFTER_MS = 60_000;
const BALANCE_INTERVAL_MS = 30_000;

export class SignerAccount {
  readonly queue: NonceQueue;
  readonly address: Hex;
  readonly #options: SignerAccountOptions;
  readonly #client: PublicClient;
  #balance: bigint | null = null;
  #costOfOne = 0n;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: SignerAccountOptions) {
    const { node, chainId, pollIntervalMs, repeatAfterMs } = options;
    const account = privateKeyToAccount(options.settlementKey);
    this.#options = options;
    this.#client = createChainClient(node);
    this.address = account.address;
    this.queue = new NonceQueue({ node, account, chainId, pollIntervalMs, repeatAfterMs });
  }

  /** Reason for operators that nothing new may be sent; null while it may. */
  unreadyReason(): string | null {
    const { stuckAfterMs = STUCK_AFTER_MS } = this.#options;
    const { oldestMs } = this.queue;
    if (oldestMs > stuckAfterMs) {
      return `a transaction of ${this.address} is unconfirmed for ${Math.round(oldestMs / 1000)} s; it is sent again by itself`;
    }
    // A payment that one of them settles would revert, at our cost, when it is sent again.
    if (this.queue.left > 0) return 'transactions of an earlier process are not mined yet';
    const balance = this.#balance;
    if (balance === null || balance >= this.#costOfOne * MIN_SETTLEMENTS) return null;
    return `${this.address} holds ${formatEther(balance)}, gas for fewer than ${MIN_SETTLEMENTS} settlements: send it some`;
  }

  status(): AccountStatus {
    const { unconfirmed, oldestMs, gap } = this.queue;
    return {
      balance: this.#balance,
      unconfirmed,
      oldestUnconfirmedMs: oldestMs,
      nonceGap: gap,
    };
  }

  /** Reads balance, fee and what an earlier process has left pending. Rejects with a plain line. */
  async open(): Promise<void> {
    try {
      await this.#readBalance();
      await this.queue.open();
    } catch (error) {
      throw new Error(describeNodeError(error));
    }
  }

  start(): void {
    if (this.#timer !== null) return;
    const { balanceIntervalMs = BALANCE_INTERVAL_MS } = this.#options;
    this.#timer = setInterval(() => {
      // The last values stay while the node does not answer; it is asked again soon.
      this.#readBalance().catch(() => undefined);
    }, balanceIntervalMs);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.queue.stop();
  }

  async #readBalance(): Promise<void> {
    const [balance, fee] = await Promise.all([
      this.#client.getBalance({ address: this.address }),
      this.queue.fee(),
    ]);
    this.#balance = balance;
    this.#costOfOne = MAX_GAS * fee.maxFeePerGas;
  }
}
