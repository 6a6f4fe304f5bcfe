import { formatEther, type Hex, type PublicClient } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describeNodeError, type NodeRequests } from '../chain/node-requests.ts';
import { createChainClient } from '../chain/payment-proof.ts';
import type { PaymentTiming } from '../timing.ts';
import type { AccountStatus } from './facilitator.ts';
import { NonceQueue } from './nonce-queue.ts';

export type SignerAccountOptions = {
  readonly node: NodeRequests;
  readonly settlementKey: Hex;
  readonly chainId: number;
  readonly timing: PaymentTiming;
};

/** Gas limit of one settlement. */
export const MAX_GAS = 300_000n;
/** Payments stop when the balance pays for fewer settlements. Settlements that are under way still need gas. */
const MIN_AFFORDABLE_SETTLEMENTS = 20n;

/** The account that settles in mode `local`: its transactions, its balance and its fees. */
export class SignerAccount {
  readonly queue: NonceQueue;
  readonly address: Hex;
  readonly #options: SignerAccountOptions;
  readonly #client: PublicClient;
  #balance: bigint | null = null;
  /** Highest cost of one settlement, wei. */
  #maxSettlementCost = 0n;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: SignerAccountOptions) {
    const { node, chainId, timing } = options;
    const account = privateKeyToAccount(options.settlementKey);
    this.#options = options;
    this.#client = createChainClient(node);
    this.address = account.address;
    this.queue = new NonceQueue({ node, account, chainId, timing });
  }

  /** Reason, for operators, why no transaction may be sent now; null while transactions may be sent. */
  unreadyReason(): string | null {
    const { oldestAgeMs } = this.queue;
    if (oldestAgeMs > this.#options.timing.stuckAfterMs) {
      return `a transaction of ${this.address} is unconfirmed for ${Math.round(oldestAgeMs / 1000)} s; it is sent again by itself`;
    }
    // If a transaction of an earlier process settles a payment that we send again, ours reverts at our cost.
    if (this.queue.inheritedCount > 0)
      return 'transactions of an earlier process are not mined yet';
    const balance = this.#balance;
    if (balance === null || balance >= this.#maxSettlementCost * MIN_AFFORDABLE_SETTLEMENTS)
      return null;
    return `${this.address} holds ${formatEther(balance)}, gas for fewer than ${MIN_AFFORDABLE_SETTLEMENTS} settlements: send it some`;
  }

  status(): AccountStatus {
    return {
      balance: this.#balance,
      unconfirmed: this.queue.unconfirmedCount,
      oldestUnconfirmedMs: this.queue.oldestAgeMs,
      nonceGap: this.queue.nonceGap,
    };
  }

  /** Reads the balance, the fee and the number of inherited transactions. Rejects with a short message. */
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
    this.#timer = setInterval(() => {
      // If the node does not answer, the last values stay until the next reading.
      this.#readBalance().catch(() => undefined);
    }, this.#options.timing.balanceIntervalMs);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.queue.stop();
  }

  async #readBalance(): Promise<void> {
    const [balance, fee] = await Promise.all([
      this.#client.getBalance({ address: this.address }),
      this.queue.readFee(),
    ]);
    this.#balance = balance;
    this.#maxSettlementCost = MAX_GAS * fee.maxFeePerGas;
  }
}
