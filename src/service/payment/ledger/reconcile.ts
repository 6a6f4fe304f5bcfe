/** Looks up once how a payment in doubt ended, sends it again if a send is due, and computes when the next look is due. */

import type { Hex } from 'viem';
import type { JsonObject } from '../../../scanner/model/json.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { ChainEvidence, ChainVerdict } from '../chain/chain-evidence.ts';
import { describeNodeError } from '../chain/node-requests.ts';
import { type Facilitator, type SettleOutcome, toDoubtData } from '../settle/facilitator.ts';
import type { RouteOffer } from '../terms.ts';
import type { PaymentTiming } from '../timing.ts';
import { findCurrentClaim, findTransaction, readPayment, readSends, UNPROVED } from './ledger.ts';
import type { LedgerWriter } from './ledger-writer.ts';

/** An `open` payment is still in doubt. */
export type ReconcileVerdict =
  | { readonly kind: 'settled'; readonly reason: string; readonly transaction: Hex | null }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'open'; readonly reason: string };

export type ReconcileOptions = {
  readonly facilitator: Facilitator;
  /** Current offer of the route of a request; null for a route that no longer exists. */
  readonly findOffer: (request: string) => RouteOffer | null;
  /** Null without `RPC_URL`, and in mock mode. Then only another send shows how a payment ended. */
  readonly evidence: ChainEvidence | null;
  /** Database time, ms. */
  readonly now: () => number;
  readonly timing: PaymentTiming;
};

type PaymentInDoubt = {
  readonly entry: LedgerEntry;
  /** Writes the next steps after `entry`. */
  readonly writer: LedgerWriter;
  /** The last send of this process, which `sendAgain` sets; null before this process has sent the payment again. */
  readonly memory: { lastSend: OwnSend | null };
};

export type OwnSend = {
  /** `performance.now()` of that send. */
  readonly sentMs: number;
  /** The step that announced this send, if nothing was sent; else null. The next send then needs no step. */
  readonly unsentStep: number | null;
};

/** This long after `validBefore`, a payment without proof counts as settled: we cannot store its answer for ever. */
const GIVE_UP_AFTER_MS = 48 * 3_600_000;

/**
 * Asks the chain, or without a node the facilitator, how a payment ended. Sends the payment again only while it can
 * still be settled. A refusal of that send proves nothing, because an earlier send may have taken the money. Rejects
 * with `StepLost` if another instance wrote first.
 */
export async function reconcileOnce(
  options: ReconcileOptions,
  inDoubt: PaymentInDoubt,
): Promise<ReconcileVerdict> {
  const { evidence, now } = options;
  const isGivenUp = now() > inDoubt.entry.last.validBeforeMs + GIVE_UP_AFTER_MS;
  const verdict =
    evidence === null
      ? await askFacilitator(options, inDoubt)
      : await askChain(evidence, options, inDoubt, isGivenUp);
  if (verdict.kind !== 'open' || !isGivenUp) return verdict;
  return { kind: 'settled', reason: UNPROVED, transaction: null };
}

async function askChain(
  evidence: ChainEvidence,
  options: ReconcileOptions,
  inDoubt: PaymentInDoubt,
  isGivenUp: boolean,
): Promise<ReconcileVerdict> {
  const { entry } = inDoubt;
  const payment = readPayment(entry);
  const sinceMs = findCurrentClaim(entry).atMs;
  const lookUp = (transaction: Hex | null) =>
    evidence.lookUp(payment, { sinceMs, transaction }).catch((error: unknown) => {
      return { kind: 'unanswered', reason: describeNodeError(error) } as const;
    });
  const knownTransaction = findTransaction(entry);
  const chainVerdict = await lookUp(knownTransaction);
  const canStillPay =
    chainVerdict.kind === 'unused' && !chainVerdict.isExpired && !chainVerdict.isReverted;
  if (!canStillPay || !isSendDue(options, inDoubt)) return toVerdict(chainVerdict, null, isGivenUp);
  const outcome = await sendAgain(options, inDoubt);
  const newTransaction = 'transaction' in outcome ? outcome.transaction : null;
  return toVerdict(await lookUp(newTransaction ?? knownTransaction), outcome, isGivenUp);
}

function toVerdict(
  found: ChainVerdict | { readonly kind: 'unanswered'; readonly reason: string },
  sent: SettleOutcome | null,
  isGivenUp: boolean,
): ReconcileVerdict {
  switch (found.kind) {
    case 'paid':
      return { kind: 'settled', reason: 'found on the chain', transaction: found.transaction };
    case 'spent_elsewhere':
      // A node that no longer follows the chain never gets a final block. When we give up, its proof counts all the same.
      if (found.isFinal || isGivenUp) return { kind: 'failed', reason: 'nonce spent elsewhere' };
      break;
    case 'unused':
      if (found.isFinal) return { kind: 'failed', reason: 'expired unused' };
      break;
    case 'unanswered':
      return toOpenVerdict(sent, found.reason);
    case 'unexplained':
      break;
  }
  return toOpenVerdict(sent, `the chain says: ${found.kind}`);
}

/** Trusts the facilitator: if it lies, we give away one paid answer. */
async function askFacilitator(
  options: ReconcileOptions,
  inDoubt: PaymentInDoubt,
): Promise<ReconcileVerdict> {
  if (!isSendDue(options, inDoubt)) return toOpenVerdict(null, 'waiting');
  const outcome = await sendAgain(options, inDoubt);
  switch (outcome.kind) {
    case 'settled':
      return { kind: 'settled', reason: 'settled again', transaction: outcome.transaction };
    case 'nonce_used': {
      const transaction = outcome.transaction ?? findTransaction(inDoubt.entry);
      return { kind: 'settled', reason: 'nonce used', transaction };
    }
    case 'refused':
    case 'not_sent':
    case 'unclear':
      return toOpenVerdict(outcome, outcome.reason);
  }
}

function toOpenVerdict(sent: SettleOutcome | null, status: string): ReconcileVerdict {
  const resent = sent === null || sent.kind === 'settled' ? '' : `; sent again: ${sent.reason}`;
  return { kind: 'open', reason: `${status}${resent}`.slice(0, 300) };
}

/** True if the payment should be sent again now. Without a node, only another send shows how the payment ended. */
function isSendDue(
  { evidence, now, timing: { resendAfterMs } }: ReconcileOptions,
  { entry, writer, memory: { lastSend } }: PaymentInDoubt,
): boolean {
  const [pauseMs = 0] = resendAfterMs;
  if (lastSend !== null && performance.now() - lastSend.sentMs < pauseMs) return false;
  if (evidence === null) return true;
  const { count, lastMs, isReverted } = readSends(entry);
  if (isReverted) return false;
  // This process has announced a send as the last step, and has not made it.
  if (lastSend?.unsentStep === writer.step) return true;
  if (count > resendAfterMs.length) return false;
  // If several times have passed without a send, for example after a restart, only one send is made.
  return findSendTimesMs(entry, resendAfterMs).some((ms) => lastMs < ms && ms <= now());
}

/**
 * Writes a step before the send, so that every instance counts the send and only one instance makes it. After the
 * send, writes the new facts of its outcome. Rejects with `StepLost` if another instance wrote first.
 */
async function sendAgain(
  { facilitator, findOffer, evidence }: ReconcileOptions,
  { entry, writer, memory }: PaymentInDoubt,
): Promise<SettleOutcome> {
  const hasChain = evidence !== null;
  const knownTransaction = findTransaction(entry);
  if (hasChain && memory.lastSend?.unsentStep !== writer.step) {
    const reason = 'sent again';
    await writer.write('unknown', { reason, transaction: knownTransaction, isSend: true });
  }
  const offer = findOffer(entry.last.request);
  const outcome = await facilitator.settle({ payment: readPayment(entry), offer });
  const unsentStep = outcome.kind === 'not_sent' ? writer.step : null;
  memory.lastSend = { sentMs: performance.now(), unsentStep };
  // Without a node, a payment is sent any number of times. Only its first known transaction is then written.
  const needsFacts = hasChain || (knownTransaction === null && outcome.kind === 'unclear');
  const newFacts = needsFacts ? toNewFacts(outcome, knownTransaction) : null;
  if (newFacts !== null) await writer.write('unknown', newFacts);
  return outcome;
}

/** Facts of an outcome that are new to the ledger; null if there are none. */
function toNewFacts(outcome: SettleOutcome, knownTransaction: Hex | null): JsonObject | null {
  switch (outcome.kind) {
    case 'refused':
    case 'not_sent':
      return null;
    case 'settled':
      return { reason: 'sent again, and settled', transaction: outcome.transaction };
    case 'nonce_used':
    case 'unclear': {
      const data = toDoubtData(outcome);
      const isNew = outcome.transaction !== null && outcome.transaction !== knownTransaction;
      return isNew || data['isReverted'] === true ? data : null;
    }
  }
}

/** Share of the time to `validBefore` that passes before the last send. In the rest, its transaction can be mined. */
const LAST_SEND_SHARE = 0.75;

/**
 * Computes the database times of the later sends, in ascending order. The sends are spread over the validity, so that a
 * facilitator that is down for seconds or minutes gets at least one send after its return. `resendAfterMs` counts from
 * the first send. Its last member is also the latest time of any send.
 */
export function toResendTimesMs(
  { firstMs, validBeforeMs }: { readonly firstMs: number; readonly validBeforeMs: number },
  resendAfterMs: readonly number[],
): readonly number[] {
  const lastMs = Math.min(
    (validBeforeMs - firstMs) * LAST_SEND_SHARE,
    resendAfterMs.at(-1) ?? Number.POSITIVE_INFINITY,
  );
  const earlier = resendAfterMs.slice(0, -1).filter((afterMs) => afterMs < lastMs);
  return [...earlier, lastMs].map((afterMs) => firstMs + afterMs);
}

function findSendTimesMs(entry: LedgerEntry, resendAfterMs: readonly number[]) {
  const { firstMs } = readSends(entry);
  return toResendTimesMs({ firstMs, validBeforeMs: entry.last.validBeforeMs }, resendAfterMs);
}

/** Finds the database time of the next send; `Infinity` if no further send will be made. */
export function findNextSendMs(
  { evidence, now, timing }: ReconcileOptions,
  entry: LedgerEntry,
): number {
  const { resendAfterMs } = timing;
  if (evidence === null || readSends(entry).isReverted) return Infinity;
  return findSendTimesMs(entry, resendAfterMs).find((timeMs) => timeMs > now()) ?? Infinity;
}

/** At most this share of a backoff is added at random, so that keys of one outage are not looked up together. */
const MAX_JITTER_SHARE = 0.25;
/** Returns the backoff until the next look in the background, at most `untilDueMs`. `random` is between 0 and 1. */
export function toNextLookMs({
  backoffMs,
  firstBackoffMs,
  untilDueMs,
  random,
}: {
  readonly backoffMs: number;
  readonly firstBackoffMs: number;
  /** Time until the next send, or until the chain can prove the end; above 0. `Infinity` if neither is ahead. */
  readonly untilDueMs: number;
  readonly random: number;
}): number {
  const jitterShare = MAX_JITTER_SHARE * random;
  return Math.min(backoffMs * (1 + jitterShare), untilDueMs + firstBackoffMs * jitterShare);
}
