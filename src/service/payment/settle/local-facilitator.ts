/** The facilitator of mode `local`: this process settles through `RPC_URL`, from an account of its own. */
import { formatEther, type Hex, type PublicClient } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { AnswerReader } from '../../../scanner/third-parties/answer-reader.ts';
import {
  createNodeRequests,
  describeNodeError,
  type NodeRequests,
} from '../chain/node-requests.ts';
import { createChainClient, isNonceUsed, judgeReceipt } from '../chain/payment-proof.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import { type EvmNetwork, parseChainId } from '../terms.ts';
import { type PaymentTiming, toPaymentTiming } from '../timing.ts';
import {
  type AccountStatus,
  type Facilitator,
  type FacilitatorRequest,
  FacilitatorUnreachable,
  type OnPaymentEvent,
  type SettleOutcome,
  toUnclear,
  type VerifyOutcome,
} from './facilitator.ts';
import { isNonceUsedReason } from './facilitator-answers.ts';
import { NonceQueue, type NonceQueueOptions, type SentTransaction } from './nonce-queue.ts';
import { type CheckOutcome, checkPayment, MAX_GAS } from './payment-check.ts';

type LocalOptions = {
  readonly rpcUrl: string;
  readonly network: EvmNetwork;
  /** Private key of the account that pays the gas. Only one process may use it, or nonces would collide. */
  readonly settlementKey: Hex;
  readonly onEvent?: OnPaymentEvent | undefined;
  readonly answers?: AnswerReader | undefined;
  readonly timing?: PaymentTiming;
};

/** Payments stop when the balance pays for fewer settlements. Settlements that are under way still need gas. */
const MIN_AFFORDABLE_SETTLEMENTS = 20n;
const NO_ANSWER_REASON = 'RPC_URL does not answer';

export function createLocalFacilitator(options: LocalOptions): Facilitator & { signer: Hex } {
  const { network, rpcUrl, settlementKey, onEvent, timing = toPaymentTiming() } = options;
  const timeoutMs = timing.confirmationTimeoutMs;
  const signer = privateKeyToAccount(settlementKey);
  const node = createNodeRequests({
    rpcUrl,
    timeoutMs: timing.signerRpcTimeoutMs,
    answers: options.answers,
    onCall: (call) => onEvent?.({ kind: 'node_call', ...call }),
  });
  const chainId = parseChainId(network);
  const account = new SignerAccount({ node, account: signer, chainId, timing });

  async function settle(request: FacilitatorRequest): Promise<SettleOutcome> {
    const { payment } = request;
    const key = toQueueKey(payment);
    // If an earlier transaction of this payment is not mined yet, we wait for that transaction.
    const sent = account.queue.findUnconfirmed(key) ?? (await sendTransaction(key, request));
    return 'kind' in sent ? sent : awaitOutcome(sent, payment, { node, timeoutMs });
  }

  /** Returns an outcome if nothing was sent. */
  async function sendTransaction(
    key: string,
    request: FacilitatorRequest,
  ): Promise<SentTransaction | SettleOutcome> {
    if (account.unreadyReason() !== null) {
      return { kind: 'not_sent', reason: 'the account is not ready' };
    }
    const checked = await checkPayment(node, account.address, request);
    if (checked.kind === 'unanswered') return { kind: 'not_sent', reason: NO_ANSWER_REASON };
    if (checked.kind === 'bad') return toUnsentOutcome(checked.reason);
    const { asset } = request.payment.requirements;
    return account.queue.send({ key, to: asset, data: checked.data, gas: MAX_GAS });
  }

  return {
    kind: 'local',
    location: `local, from ${account.address}`,
    signer: signer.address,
    findSupported: () => findSupportedKinds(node, account, network),
    verify: async (request) => toVerifyOutcome(await checkPayment(node, account.address, request)),
    settle,
    unreadyReason: () => account.unreadyReason(),
    account: () => account.status(),
    start: () => account.start(),
    stop: async () => account.stop(),
  };
}

/** Opens the account; no kinds if the node is on another chain. Throws `FacilitatorUnreachable` without an answer. */
async function findSupportedKinds(node: NodeRequests, account: SignerAccount, network: EvmNetwork) {
  const failUnreachable = (cause: unknown) => {
    throw new FacilitatorUnreachable(`${NO_ANSWER_REASON}, or not as a node does`, { cause });
  };
  const chainId = await node.request({ method: 'eth_chainId' }).catch(failUnreachable);
  if (Number(chainId) !== parseChainId(network)) return [];
  await account.open().catch(failUnreachable);
  return [{ x402Version: 2, scheme: 'exact', network }];
}

function toVerifyOutcome(checked: CheckOutcome): VerifyOutcome {
  switch (checked.kind) {
    case 'good':
      return { kind: 'valid' };
    case 'bad':
      return { kind: 'invalid', reason: checked.reason };
    case 'unanswered':
      return { kind: 'unavailable', reason: NO_ANSWER_REASON };
  }
}

/** Waits until a sent transaction has ended, at most `timeoutMs`, and judges its receipt. */
async function awaitOutcome(
  sent: SentTransaction,
  payment: StoredPayment,
  { node, timeoutMs }: { readonly node: NodeRequests; readonly timeoutMs: number },
): Promise<SettleOutcome> {
  const timeUp = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => timeUp.resolve('late'), timeoutMs);
  const receipt = await Promise.race([sent.receipt.promise, timeUp.promise]);
  clearTimeout(timer);
  const transaction = sent.hash;
  if (receipt === 'late') return toUnclear('not mined yet', transaction);
  if (receipt === null) return toUnclear('its nonce was taken by another transaction', null);
  const proof = judgeReceipt(receipt, payment);
  if (proof === 'pays') return { kind: 'settled', transaction };
  if (proof === 'other') return toUnclear('mined without having paid us', transaction);
  const isUsed = await isNonceUsed(createChainClient(node), payment).catch(() => null);
  // Somebody else can send the same authorization before us. Then we are paid, and our transaction reverts.
  if (isUsed === true) return { kind: 'nonce_used', reason: 'sent by another', transaction: null };
  if (isUsed === null) return toUnclear('mined, and reverted', transaction);
  return { kind: 'unclear', reason: 'mined, and reverted', transaction, isReverted: true };
}

/** Outcome for a payment that failed our check, so that no transaction was sent. */
function toUnsentOutcome(reason: string): SettleOutcome {
  if (!isNonceUsedReason(reason)) return { kind: 'refused', reason };
  return { kind: 'nonce_used', reason, transaction: null };
}

function toQueueKey({ authorization, requirements }: StoredPayment): string {
  return `${requirements.asset}:${authorization.from}:${authorization.nonce}`.toLowerCase();
}

/** The account that settles in mode `local`: its transactions, its balance and its fees. */
class SignerAccount {
  readonly queue: NonceQueue;
  readonly address: Hex;
  readonly #timing: PaymentTiming;
  readonly #client: PublicClient;
  #balance: bigint | null = null;
  /** Highest cost of one settlement, wei. */
  #maxSettlementCost = 0n;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: NonceQueueOptions) {
    this.#timing = options.timing;
    this.#client = createChainClient(options.node);
    this.address = options.account.address;
    this.queue = new NonceQueue(options);
  }

  /** Reason, for operators, why no transaction may be sent now; null while transactions may be sent. */
  unreadyReason(): string | null {
    const { oldestAgeMs } = this.queue;
    if (oldestAgeMs > this.#timing.stuckAfterMs) {
      return `a transaction of ${this.address} is unconfirmed for ${Math.round(oldestAgeMs / 1000)} s; it is sent again by itself`;
    }
    // If a transaction of an earlier process settles a payment that we send again, ours reverts at our cost.
    if (this.queue.inheritedCount > 0)
      return 'transactions of an earlier process are not mined yet';
    const balance = this.#balance;
    // Before the first reading, `PaymentsReadiness` takes no payments.
    if (balance === null || balance >= this.#maxSettlementCost * MIN_AFFORDABLE_SETTLEMENTS)
      return null;
    return `${this.address} holds ${formatEther(balance)}, gas for fewer than ${MIN_AFFORDABLE_SETTLEMENTS} settlements: send it some`;
  }

  status(): AccountStatus {
    return { balance: this.#balance, ...this.queue.status() };
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
    }, this.#timing.balanceIntervalMs);
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
