/** Finds the answer that a payment or a payment identifier has already bought, and decides who may fetch it. */

import { randomUUID } from 'node:crypto';
import { isValidPaymentId } from '@x402/extensions/payment-identifier';
import {
  AnswerExpired,
  AnswerPrivate,
  InvalidPaymentIdentifier,
  PaymentConflict,
  TooManyTries,
} from '../../errors/errors.ts';
import { ANSWER_LIFETIME_MS } from '../../store/context.ts';
import type { IdentifierScope } from '../../store/identifiers.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { Store } from '../../store/store.ts';
import {
  countClaims,
  findSettledAtMs,
  findTransaction,
  isUnproved,
  readPayment,
  toProgress,
} from '../ledger/ledger.ts';
import type { SignedPayment } from '../paid-route.ts';
import { findDifferingField, type PaymentTerms, toPayer } from '../terms.ts';
import type { PaidDelivery, Purchase } from './purchase.ts';

/** For this long after a settlement, a new authorization fetches an answer that was not written in full. */
const LOST_ANSWER_MS = 10 * 60_000;
/** For this long after a delivery, the payment header fetches a private answer without an identifier. */
const HEADER_SUFFICES_MS = 10 * 60_000;
const MAX_WRONG_IDENTIFIERS = 8;
/** Lifetime of a counted wrong identifier; no answer is stored for longer. */
const GUESS_LIFETIME_MS = 48 * 3_600_000;
const MAX_UNPAID_LINKS = 8;
/** Only the newest links of an identifier are read. A key that has an answer, or may get one, is among them. */
const MAX_LINKS_READ = 16;
const MAX_CLAIMS_PER_KEY = 20;
/** If the payment of a key was never sent, the store purges the key after 60 to 70 minutes. */
const PURGED_AFTER_MS = 70 * 60_000;

type Stores = Pick<Store, 'identifiers' | 'ledger' | 'leases' | 'now'>;

/** Reads the identifier of a payload; null if it has none. Throws for a malformed identifier. */
export function toIdentifierScope(
  payment: SignedPayment,
  terms: PaymentTerms,
): IdentifierScope | null {
  const id = payment.identifier;
  if (id === null) return null;
  if (typeof id !== 'string' || !isValidPaymentId(id)) throw new InvalidPaymentIdentifier();
  return { network: terms.network, payer: toPayer(payment), id };
}

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

/** True if the call has the identifier that was sent with the purchase. Only the buyer knows this identifier. */
export async function hasBuyersIdentifier(
  stores: Stores,
  { scope }: Purchase,
  key: string,
): Promise<boolean> {
  if (scope === null) return false;
  const links = await stores.identifiers.findLinks(scope, MAX_LINKS_READ);
  return links.some((link) => link.key === key);
}

/**
 * Reads the answer that a settled key bought. Throws `AnswerExpired` from 24 hours after the settlement. The answer
 * may still be stored then, if a purge was late or another payer has bought the same answer. If the purchase's own key
 * bought it, also throws `AnswerPrivate`.
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
  if (purchase.scope === null) throw new AnswerPrivate();
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

/** Throws if the payer has claimed this payment and ended the call too often. */
export function refuseRepeatedClaims(entry: LedgerEntry | null, nowMs: number): void {
  if (entry === null || countClaims(entry) < MAX_CLAIMS_PER_KEY) return;
  throw new TooManyTries(
    `This payment was tried ${MAX_CLAIMS_PER_KEY} times. Sign a new payment now, or send this one again after Retry-After.`,
    secondsUntil(entry.last.atMs + PURGED_AFTER_MS, nowMs),
    false, // not charged
  );
}

/** The links of an identifier when they were read. Each link binds the identifier to one key. */
export type IdentifierState = {
  readonly nextLink: number;
  /** Key of the last link; null if there is no link. */
  readonly lastKey: string | null;
  /** Another key of this identifier that has an answer or may still get one. The call then gets that answer. */
  readonly liveKey: string | null;
};

/**
 * Reads the links of an identifier. Throws `PaymentConflict` if the identifier was used for another request.
 * `isInFlight` is true for keys that this process works on, even before they are claimed.
 */
export async function readIdentifier(
  stores: Stores,
  scope: IdentifierScope,
  { request, key: ownKey }: Purchase,
  isInFlight: (key: string) => boolean,
): Promise<IdentifierState> {
  const links = await stores.identifiers.findLinks(scope, MAX_LINKS_READ);
  const last = links.at(-1);
  if (last === undefined) return { nextLink: 1, lastKey: null, liveKey: null };
  if (last.request !== request) {
    throw new PaymentConflict(
      'payment-identifier',
      'This payment identifier was used for another request. Make a new one for each request.',
    );
  }
  let liveKey: string | null = null;
  let unpaidCount = 0;
  for (const { key } of links) {
    if (key === ownKey) continue;
    const entry = await stores.ledger.findEntry(key);
    if (isInFlight(key) || (entry !== null && isLive(entry))) liveKey = key;
    else if (entry !== null && countClaims(entry) > 0) unpaidCount += 1;
  }
  if (liveKey === null && last.key !== ownKey && unpaidCount >= MAX_UNPAID_LINKS) {
    throw new TooManyTries(
      `${MAX_UNPAID_LINKS} payments with this payment identifier ended unpaid. Take a new identifier now, or send this one after Retry-After.`,
      secondsUntil(last.atMs + PURGED_AFTER_MS, stores.now()),
      false, // not charged
    );
  }
  return { nextLink: last.n + 1, lastKey: last.key, liveKey };
}

/** Binds an identifier to a key. Returns false if another call was first. The links must then be read again. */
export async function bindIdentifier(
  stores: Pick<Store, 'identifiers'>,
  scope: IdentifierScope,
  state: IdentifierState,
  { request, key }: Purchase,
): Promise<boolean> {
  if (state.lastKey === key) return true;
  const link = { n: state.nextLink, request, key, attempt: randomUUID() };
  return (await stores.identifiers.append(scope, link)) === 'won';
}

/** True if the key has an answer or may still get one. */
function isLive({ last }: LedgerEntry): boolean {
  switch (toProgress(last.state)) {
    case 'working':
    case 'in_doubt':
    case 'paid':
      return true;
    case 'free':
    case 'failed':
      return false;
  }
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

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1000));
}
