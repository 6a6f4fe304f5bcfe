/** Finds the answer that an earlier payment has bought, and decides who may fetch it. */

import {
  AnswerExpired,
  AnswerPrivate,
  PaymentConflict,
  TooManyTries,
} from '../../errors/errors.ts';
import { ANSWER_LIFETIME_MS } from '../../store/context.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { Store } from '../../store/store.ts';
import {
  findSettledAtMs,
  findTransaction,
  isUnproved,
  readPayment,
  toProgress,
} from '../ledger/ledger.ts';
import { findDifferingField } from '../terms.ts';
import { hasBuyersIdentifier } from './identifier-links.ts';
import type { PaidDelivery, Purchase } from './purchase.ts';

/** For this long after a settlement, a new authorization fetches an answer that was not written in full. */
const LOST_ANSWER_MS = 10 * 60_000;
/** For this long after a delivery, the payment header fetches a private answer without an identifier. */
const HEADER_SUFFICES_MS = 10 * 60_000;
const MAX_WRONG_IDENTIFIERS = 8;
/** Lifetime of a counted wrong identifier; no answer is stored for longer. */
const GUESS_LIFETIME_MS = 48 * 3_600_000;

type Stores = Pick<Store, 'identifiers' | 'ledger' | 'leases' | 'now'>;

/**
 * Throws `PaymentConflict` if a claim of the purchase's own key bought another request or has other signed fields. The
 * error names only the field that differs, and nothing of what was bought.
 */
export function refuseConflict(
  claim: Pick<Purchase, 'key' | 'request' | 'payment'>,
  { key, request, payment, route }: Purchase,
): void {
  if (claim.key !== key) return;
  if (claim.request !== request) {
    const field = claim.request.startsWith(`${route.name} `) ? 'request' : 'route';
    throw new PaymentConflict(
      field,
      `This payment was used for another ${field}. Sign a new payment for this one.`,
    );
  }
  const field = findDifferingField(claim.payment.authorization, payment.authorization);
  if (field === null) return;
  throw new PaymentConflict(
    field,
    `This nonce was used with another "${field}". Sign with a new nonce.`,
  );
}

/**
 * Reads the answer that a settled key bought. Throws `AnswerExpired` from 24 hours after the settlement, even if the
 * answer is still stored. For the purchase's own key it also throws `AnswerPrivate`, and `TooManyTries` for identifiers.
 */
export async function findDelivery(
  stores: Stores & Pick<Store, 'answers'>,
  entry: LedgerEntry,
  purchase: Purchase,
): Promise<PaidDelivery> {
  const isOwn = entry.key === purchase.key;
  const { answerId } = entry.last;
  const settledMs = findSettledAtMs(entry) ?? 0;
  const isExpired = stores.now() >= settledMs + ANSWER_LIFETIME_MS;
  const answer = isExpired || answerId === undefined ? null : await stores.answers.get(answerId);
  if (answer === null) throw new AnswerExpired(isOwn);
  if (isOwn) await refusePrivateAnswer(stores, purchase, entry);
  const { authorization, requirements } = readPayment(entry);
  return {
    key: entry.key,
    headers: isUnproved(entry) ? { ...answer.headers, 'x-settlement': 'unproved' } : answer.headers,
    bodyBytes: answer.bodyBytes,
    body: () => answer.body(),
    settlement: {
      network: requirements.network,
      payer: authorization.from,
      transaction: findTransaction(entry),
    },
  };
}

/**
 * Throws if a private answer needs the payer's identifier and the call does not have it. Anybody can rebuild the
 * header of a settled payment from the chain, so ten minutes after delivery the header proves nothing.
 */
async function refusePrivateAnswer(
  stores: Stores,
  purchase: Purchase,
  { key, writtenAtMs }: LedgerEntry,
): Promise<void> {
  if (purchase.route.isPublic || writtenAtMs === null) return;
  if (stores.now() < writtenAtMs + HEADER_SUFFICES_MS) return;
  if (purchase.identifier === null) throw new AnswerPrivate();
  // A guess is counted before the comparison and released after a match, so that parallel guesses count too.
  const guess = await stores.leases.take({
    scope: ['share', `identifier of ${key}`],
    limit: MAX_WRONG_IDENTIFIERS,
    lifetimeMs: GUESS_LIFETIME_MS,
    endsWithOwner: false,
  });
  if (!guess.taken) {
    throw new TooManyTries(
      `${MAX_WRONG_IDENTIFIERS} wrong payment identifiers were tried for this answer, so no identifier opens it any more. Sign a new payment for a new answer.`,
      GUESS_LIFETIME_MS / 1000,
      true, // charged
    );
  }
  if (!(await hasBuyersIdentifier(stores, purchase, key))) throw new AnswerPrivate();
  await stores.leases.release(guess.lease);
}

/**
 * Finds another key with which this payer has paid, or may have paid, for the same request, and whose answer was not
 * delivered in full. A client that lost an answer signs again, and must not pay twice. Null if there is no such key.
 * `isBeingMarked` is true for answers that were delivered, while the ledger does not say so yet.
 */
export async function findUndeliveredKey(
  stores: Pick<Store, 'ledger' | 'now'>,
  { key, payer, request }: Purchase,
  isBeingMarked: (key: string) => boolean,
): Promise<string | null> {
  const sinceMs = stores.now() - LOST_ANSWER_MS;
  const isUndelivered = (entry: LedgerEntry): boolean => {
    if (entry.key === key) return false;
    switch (toProgress(entry.last.state)) {
      case 'in_doubt':
        return true;
      case 'paid':
        return (
          entry.writtenAtMs === null &&
          (findSettledAtMs(entry) ?? 0) >= sinceMs &&
          !isBeingMarked(entry.key)
        );
      case 'free':
      case 'working':
      case 'failed':
        return false;
    }
  };
  const entries = await stores.ledger.findRecent({ payer, request, sinceMs, withoutWritten: true });
  return entries.find(isUndelivered)?.key ?? null;
}
