/** `local` mode: settles by itself, on `RPC_URL`, from an account of its own. */
import type { Hex } from 'viem';
import type { AnswerReader } from '../../answers/answer-reader.ts';
import { createNodeRequests, type NodeRequests } from '../chain/node-requests.ts';
import { judgeReceipt } from '../chain/payment-proof.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import { type EvmNetwork, parseChainId } from '../terms.ts';
import {
  type Facilitator,
  type FacilitatorRequest,
  FacilitatorUnreachable,
  type OnPaymentEvent,
  type SettleOutcome,
  type VerifyOutcome,
} from './facilitator.ts';
import { NotSent, type SentTransaction } from './nonce-queue.ts';
import { type CheckOutcome, checkPayment, isNonceSpent } from './payment-check.ts';
import { toSettleOutcome } from './settle-outcome.ts';
import { MAX_GAS, SignerAccount, type SignerAccountOptions } from './signer-account.ts';

export type LocalOptions = Omit<SignerAccountOptions, 'node' | 'settlementKey' | 'chainId'> & {
  readonly rpcUrl: string;
  readonly network: EvmNetwork;
  /** Pays the gas. Only one process may send from it: others would take its nonces. */
  readonly settlementKey: Hex;
  readonly rpcTimeoutMs?: number | undefined;
  /** Wait for a broadcast transaction to be mined, before it is left to reconciling. */
  readonly confirmationTimeoutMs?: number | undefined;
  readonly onEvent?: OnPaymentEvent | undefined;
  readonly answers?: AnswerReader | undefined;
};

const RPC_TIMEOUT_MS = 8_000;
const CONFIRMATION_TIMEOUT_MS = 25_000;
const NO_ANSWER = 'RPC_URL does not answer';

export function createLocalFacilitator(options: LocalOptions): Facilitator & { signer: Hex } {
  const { network, rpcUrl, rpcTimeoutMs = RPC_TIMEOUT_MS, onEvent } = options;
  const { confirmationTimeoutMs: timeoutMs = CONFIRMATION_TIMEOUT_MS } = options;
  const node = createNodeRequests({
    rpcUrl,
    timeoutMs: rpcTimeoutMs,
    answers: options.answers,
    onCall: (call) => onEvent?.({ kind: 'node_call', ...call }),
  });
  const account = new SignerAccount({ ...options, node, chainId: parseChainId(network) });

  const supported = () => supportedKinds(node, account, network);

  async function verify(request: FacilitatorRequest): Promise<VerifyOutcome> {
    return verifyOutcome(await checkPayment(node, account.address, request));
  }

  async function settle(request: FacilitatorRequest): Promise<SettleOutcome> {
    const { payment } = request;
    const key = keyOf(payment);
    // An earlier send of this payment is still under way.
    const sent = account.queue.find(key) ?? (await sendNow(key, request));
    return 'nonce' in sent ? outcomeOf(sent, payment, { node, timeoutMs }) : sent;
  }

  async function sendNow(
    key: string,
    request: FacilitatorRequest,
  ): Promise<SentTransaction | SettleOutcome> {
    const { payment } = request;
    const reason = account.unreadyReason();
    if (reason !== null) return { kind: 'not_sent', reason: 'the account is not ready' };
    const checked = await checkPayment(node, account.address, request);
    if (checked.kind === 'unanswered') return { kind: 'not_sent', reason: NO_ANSWER };
    if (checked.kind === 'used') {
      return { kind: 'nonce_used', reason: 'nonce_already_used', transaction: null };
    }
    if (checked.kind === 'bad') return refusal(checked.reason, payment);
    try {
      const { asset } = payment.requirements;
      return await account.queue.send({ key, to: asset, data: checked.data, gas: MAX_GAS });
    } catch (error) {
      const reason = error instanceof NotSent ? error.message : NO_ANSWER;
      return { kind: 'not_sent', reason };
    }
  }

  return {
    kind: 'local',
    location: `local, from ${account.address}`,
    signer: account.address,
    supported,
    verify,
    settle,
    unreadyReason: () => account.unreadyReason(),
    account: () => account.status(),
    start: () => account.start(),
    stop: async () => account.stop(),
  };
}

/** Opens the account on the way; throws `FacilitatorUnreachable` if the node does not answer. */
async function supportedKinds(node: NodeRequests, account: SignerAccount, network: EvmNetwork) {
  const unreachable = (cause: unknown) => {
    throw new FacilitatorUnreachable(`${NO_ANSWER}, or not as a node does`, { cause });
  };
  const chainId = await node.request({ method: 'eth_chainId' }).catch(unreachable);
  if (Number(chainId) !== parseChainId(network)) return [];
  await account.open().catch(unreachable);
  return [{ x402Version: 2, scheme: 'exact', network }];
}

function verifyOutcome(checked: CheckOutcome): VerifyOutcome {
  switch (checked.kind) {
    case 'good':
      return { kind: 'valid' };
    case 'bad':
      return { kind: 'invalid', reason: checked.reason };
    case 'used':
      return { kind: 'invalid', reason: 'nonce_already_used' };
    case 'unanswered':
      return { kind: 'unavailable', reason: NO_ANSWER };
  }
}

/** Waits until a sent transaction ended, or `timeoutMs` passed, and reads from its receipt what it did. */
async function outcomeOf(
  sent: SentTransaction,
  payment: StoredPayment,
  { node, timeoutMs }: { readonly node: NodeRequests; readonly timeoutMs: number },
): Promise<SettleOutcome> {
  const late = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => late.resolve('late'), timeoutMs);
  const receipt = await Promise.race([sent.ended.promise, late.promise]);
  clearTimeout(timer);
  const transaction = sent.hash;
  if (receipt === 'late') return unclear('not mined yet', transaction);
  if (receipt === null) return unclear('its nonce was taken by another transaction', null);
  const proof = judgeReceipt(receipt, payment);
  if (proof === 'pays') return { kind: 'settled', transaction };
  if (proof === 'other') return unclear('mined without having paid us', transaction);
  const isUsed = await isNonceSpent(node, payment);
  // An observer of the mempool can send the same first; then it is paid, and no wallet's fault.
  if (isUsed === true) return { kind: 'nonce_used', reason: 'sent by another', transaction: null };
  if (isUsed === null) return unclear('mined, and reverted', transaction);
  return { kind: 'unclear', reason: 'mined, and reverted', transaction, isReverted: true };
}

/** The transaction was not sent, so the authorization is at fault, unless its nonce was used. */
function refusal(reason: string, payment: StoredPayment): SettleOutcome {
  const { network } = payment.requirements;
  const response = { success: false, errorReason: reason, transaction: '', network };
  const outcome = toSettleOutcome(response, payment);
  return outcome.kind === 'nonce_used' ? outcome : { kind: 'refused', reason };
}

function unclear(reason: string, transaction: Hex | null): SettleOutcome {
  return { kind: 'unclear', reason, transaction };
}

function keyOf({ authorization, requirements }: StoredPayment): string {
  return `${requirements.asset}:${authorization.from}:${authorization.nonce}`.toLowerCase();
}
