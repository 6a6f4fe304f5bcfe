/** Binds payment identifiers to keys, and limits the unpaid tries with one identifier and with one key. */
import { randomUUID } from 'node:crypto';
import { isValidPaymentId } from '@x402/extensions/payment-identifier';
import { InvalidPaymentIdentifier, PaymentConflict, TooManyTries } from '../../errors/errors.ts';
import type { PaymentIdentifier } from '../../store/identifiers.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { Store } from '../../store/store.ts';
import { countClaims, toProgress } from '../ledger/ledger.ts';
import type { SignedPayment } from '../paid-route.ts';
import { type PaymentTerms, toPayer } from '../terms.ts';
import type { Purchase } from './purchase.ts';

const MAX_UNPAID_LINKS = 8;
/** More than `MAX_UNPAID_LINKS`, so that the newest links include each key that has an answer or may get one. */
const MAX_LINKS_READ = 16;
const MAX_CLAIMS_PER_KEY = 20;
/** If the payment of a key was never sent, the store purges the key after 60 to 70 minutes. */
const PURGED_AFTER_MS = 70 * 60_000;

/** Reads the identifier of a payload; null if it has none. Throws for a malformed identifier. */
export function readPaymentIdentifier(
  payment: SignedPayment,
  terms: PaymentTerms,
): PaymentIdentifier | null {
  const id = payment.identifier;
  if (id === null) return null;
  if (typeof id !== 'string' || !isValidPaymentId(id)) throw new InvalidPaymentIdentifier();
  return { network: terms.network, payer: toPayer(payment), id };
}

/** True if the call has the identifier that was sent with the purchase. Only the buyer knows this identifier. */
export async function hasBuyersIdentifier(
  stores: Pick<Store, 'identifiers'>,
  { identifier }: Purchase,
  key: string,
): Promise<boolean> {
  if (identifier === null) return false;
  const links = await stores.identifiers.findLinks(identifier, MAX_LINKS_READ);
  return links.some((link) => link.key === key);
}

/** The links of an identifier when they were read. Each link binds the identifier to one key. */
export type IdentifierLinks = {
  /** Number of the link that is written next; 1 for the first. */
  readonly nextLink: number;
  /** Key of the last link; null if there is no link. */
  readonly lastKey: string | null;
  /** Another key of this identifier that has an answer or may still get one. The call then gets that answer. */
  readonly liveKey: string | null;
};

/**
 * Reads the links of an identifier. Throws `PaymentConflict` if the identifier was used for another request, and
 * `TooManyTries` if this key would be one unpaid link too many. `isInFlight` is true for keys that this process works
 * on, even before they are claimed.
 */
export async function readLinks(
  stores: Pick<Store, 'identifiers' | 'ledger' | 'now'>,
  identifier: PaymentIdentifier,
  { request, key: ownKey }: Purchase,
  isInFlight: (key: string) => boolean,
): Promise<IdentifierLinks> {
  const links = await stores.identifiers.findLinks(identifier, MAX_LINKS_READ);
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
      secondsUntilPurge(last.atMs, stores.now()),
      false, // not charged
    );
  }
  return { nextLink: last.n + 1, lastKey: last.key, liveKey };
}

/** Binds an identifier to a key. Returns false if another call was first. The links must then be read again. */
export async function bindIdentifier(
  stores: Pick<Store, 'identifiers'>,
  identifier: PaymentIdentifier,
  { lastKey, nextLink }: IdentifierLinks,
  { request, key }: Purchase,
): Promise<boolean> {
  if (lastKey === key) return true;
  const link = { n: nextLink, request, key, attempt: randomUUID() };
  return (await stores.identifiers.append(identifier, link)) === 'won';
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

/** Throws if the payer has ended too many claims of this payment without paying. */
export function refuseRepeatedClaims(entry: LedgerEntry | null, nowMs: number): void {
  if (entry === null || countClaims(entry) < MAX_CLAIMS_PER_KEY) return;
  throw new TooManyTries(
    `This payment was tried ${MAX_CLAIMS_PER_KEY} times. Sign a new payment now, or send this one again after Retry-After.`,
    secondsUntilPurge(entry.last.atMs, nowMs),
    false, // not charged
  );
}

function secondsUntilPurge(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs + PURGED_AFTER_MS - nowMs) / 1000));
}
