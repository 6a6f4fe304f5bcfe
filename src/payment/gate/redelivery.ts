/** Finds the answer that a payment, or its identifier, has bought already. */

import { randomUUID } from 'node:crypto';
import { isValidPaymentId } from '@x402/extensions/payment-identifier';
import { isSameAddress } from '../../config/parse-values.ts';
import {
  AnswerPrivate,
  InvalidPaymentIdentifier,
  PaymentConflict,
  TooManyTries,
} from '../../model/errors.ts';
import type { IdentifierScope } from '../../store/identifiers.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { Store } from '../../store/store.ts';
import { countClaims, findSettledAtMs, type StoredPayment, toProgress } from '../ledger/ledger.ts';
import type { SignedPayment } from '../paid-route.ts';
import type { PaymentTerms } from '../terms.ts';
import { toPayer } from '../terms.ts';
import type { Purchase } from './purchase.ts';

/** The first signed field in which a payment differs from the one that holds its key, or null. */
export function findDifferingField(
  stored: StoredPayment,
  { authorization }: SignedPayment,
): 'to' | 'value' | 'validAfter' | 'validBefore' | null {
  const signed = stored.authorization;
  if (!isSameAddress(signed.to, authorization.to)) return 'to';
  if (signed.value !== authorization.value) return 'value';
  if (signed.validAfter !== authorization.validAfter) return 'validAfter';
  if (signed.validBefore !== authorization.validBefore) return 'validBefore';
  return null;
}

/** Time after the settlement in which a payer may fetch an answer that was not delivered whole. */
const OWED_MS = 10 * 60_000;
/** For this long after a delivery, the payment header opens a private answer without an identifier. */
const HEADER_OPENS_MS = 10 * 60_000;
const MAX_WRONG_IDENTIFIERS = 8;
/** Longer than any answer is kept. */
const GUESS_LIFETIME_MS = 48 * 3_600_000;
const MAX_LINKS_PER_IDENTIFIER = 8;
/** Only this many newest links of an identifier are read; a live or paid key is among them. */
const NEWEST_LINKS = 16;
const MAX_CLAIMS_PER_KEY = 20;
/** A key whose payment was never sent is purged after 60 to 70 minutes. */
const FORGOTTEN_AFTER_MS = 70 * 60_000;

type Stores = Pick<Store, 'identifiers' | 'ledger' | 'slots' | 'now'>;

/** Throws for a malformed identifier; null for a payload without one. */
export function toIdentifierScope(
  payment: SignedPayment,
  terms: PaymentTerms,
): IdentifierScope | null {
  const id = payment.identifier;
  if (id === null) return null;
  if (typeof id !== 'string' || !isValidPaymentId(id)) throw new InvalidPaymentIdentifier();
  return { network: terms.network, payer: toPayer(payment), id };
}

/** One authorization buys one request: throws `PaymentConflict`, which names the field and no more. */
export function refuseConflict(
  claim: { readonly request: string; readonly payment: StoredPayment },
  { request, payment, route }: Purchase,
): void {
  if (claim.request !== request) {
    const isOtherRoute = !claim.request.startsWith(`${route.name} `);
    const field = isOtherRoute ? 'route' : 'request';
    throw new PaymentConflict(
      field,
      `This payment was used for another ${field}. Sign a new one for this.`,
    );
  }
  const field = findDifferingField(claim.payment, payment);
  if (field === null) return;
  throw new PaymentConflict(
    field,
    `This nonce was used with another "${field}". Sign with a new nonce.`,
  );
}

/** True if the call gives an identifier of the purchase: a secret of the buyer that no blockchain shows. */
export async function hasBuyersIdentifier(
  stores: Stores,
  { scope }: Purchase,
  key: string,
): Promise<boolean> {
  if (scope === null) return false;
  return (await stores.identifiers.findLinks(scope, NEWEST_LINKS)).some((link) => link.key === key);
}

/**
 * Refuses a bare header whose answer belongs only to its payer. Once a payment is settled its header
 * can be read on the chain, so after a while it proves nothing.
 */
export async function refusePrivateAnswer(
  stores: Stores,
  purchase: Purchase,
  { key, writtenAtMs }: LedgerEntry,
): Promise<void> {
  if (purchase.route.isPublic || writtenAtMs === null) return;
  if (stores.now() < writtenAtMs + HEADER_OPENS_MS) return;
  if (purchase.scope === null) throw new AnswerPrivate();
  // Counted before the comparison and uncounted after a match, so that guesses in parallel count too.
  const guess = await stores.slots.take({
    scope: ['share', `identifier of ${key}`],
    limit: MAX_WRONG_IDENTIFIERS,
    lifetimeMs: GUESS_LIFETIME_MS,
    endsWithOwner: false,
  });
  if (!guess.taken) {
    throw new TooManyTries(
      `${MAX_WRONG_IDENTIFIERS} wrong payment identifiers were tried for this answer, so no identifier opens it any more. Sign a new payment for a new answer.`,
      GUESS_LIFETIME_MS / 1000,
      true,
    );
  }
  if (!(await hasBuyersIdentifier(stores, purchase, key))) throw new AnswerPrivate();
  await stores.slots.release(guess.slot);
}

/** Refuses a payment whose payer has claimed and abandoned it too often. */
export function refuseRepeatedClaims(entry: LedgerEntry | null, nowMs: number): void {
  if (entry === null || countClaims(entry) < MAX_CLAIMS_PER_KEY) return;
  throw new TooManyTries(
    `This payment was tried ${MAX_CLAIMS_PER_KEY} times. Sign a new one now, or send it again after Retry-After.`,
    secondsUntil(entry.last.atMs + FORGOTTEN_AFTER_MS, nowMs),
    false,
  );
}

/** The chain of an identifier as it was read. */
export type IdentifierState = {
  /** Number of the next link. */
  readonly next: number;
  /** Key of the last link. */
  readonly lastKey: string | null;
  /** Another key of this identifier that has an answer or may still get one: the call gets that answer. */
  readonly liveKey: string | null;
};

/**
 * Reads the chain of an identifier. Throws `PaymentConflict` if it was used for another request.
 * `isInFlight` knows the keys that this process works on, claimed or not yet.
 */
export async function readIdentifier(
  stores: Stores,
  scope: IdentifierScope,
  { request, key: ownKey }: Purchase,
  isInFlight: (key: string) => boolean,
): Promise<IdentifierState> {
  const chain = await stores.identifiers.findLinks(scope, NEWEST_LINKS);
  const last = chain.at(-1);
  if (last === undefined) return { next: 1, lastKey: null, liveKey: null };
  if (last.request !== request) {
    throw new PaymentConflict(
      'payment-identifier',
      'This payment identifier was used for another request. Make a new one for each request.',
    );
  }
  let liveKey: string | null = null;
  let ended = 0;
  for (const { key } of chain) {
    if (key === ownKey) continue;
    const entry = await stores.ledger.findEntry(key);
    if (isInFlight(key) || (entry !== null && isLive(entry))) liveKey = key;
    else if (entry !== null && countClaims(entry) > 0) ended += 1;
  }
  if (liveKey === null && last.key !== ownKey && ended >= MAX_LINKS_PER_IDENTIFIER) {
    throw new TooManyTries(
      `${MAX_LINKS_PER_IDENTIFIER} payments with this payment identifier came to nothing. Take a new identifier now, or send it again after Retry-After.`,
      secondsUntil(last.atMs + FORGOTTEN_AFTER_MS, stores.now()),
      false,
    );
  }
  return { next: last.n + 1, lastKey: last.key, liveKey };
}

/** Binds an identifier to a key; false if another request was first: read the chain again. */
export async function bindIdentifier(
  stores: Pick<Store, 'identifiers'>,
  scope: IdentifierScope,
  state: IdentifierState,
  { request, key }: Purchase,
): Promise<boolean> {
  if (state.lastKey === key) return true;
  const link = { n: state.next, request, key, attempt: randomUUID() };
  return (await stores.identifiers.append(scope, link)) === 'won';
}

/** True if a key has, or may still get, an answer. */
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
 * Finds the key by which this payer has paid, or may have paid, for the same request without a complete
 * delivery: clients that lose an answer sign again, and must not pay twice.
 */
export async function findLostAnswer(
  stores: Pick<Store, 'ledger' | 'now'>,
  { key, payer, request }: Purchase,
  isWritten: (key: string) => boolean,
): Promise<string | null> {
  const sinceMs = stores.now() - OWED_MS;
  const isOwed = (entry: LedgerEntry): boolean => {
    if (entry.key === key) return false;
    switch (toProgress(entry.last.state)) {
      case 'in_doubt':
        return true;
      case 'paid':
        return (
          entry.writtenAtMs === null &&
          (findSettledAtMs(entry) ?? 0) >= sinceMs &&
          !isWritten(entry.key)
        );
      case 'free':
      case 'working':
      case 'failed':
        return false;
    }
  };
  const entries = await stores.ledger.findRecent({ payer, request, sinceMs, withoutWritten: true });
  return entries.find(isOwed)?.key ?? null;
}

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1000));
}
