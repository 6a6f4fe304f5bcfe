/** Whose answer a payment may get: by its identifier, or because one was lost. */
import { randomUUID } from 'node:crypto';
import { isValidPaymentId } from '@x402/extensions/payment-identifier';
import { InvalidPaymentIdentifier, PaymentConflict } from '../errors/errors.ts';
import type { IdentifierScope } from '../store/contract/identifiers.ts';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import type { Store } from '../store/contract/store.ts';
import { payerOf } from './authorization.ts';
import type { PaymentTerms } from './challenge.ts';
import { isInDoubt, isPaid, settledAtMs } from './ledger.ts';
import type { SignedPayment } from './payment-header.ts';
import type { Purchase } from './purchase.ts';

/** Throws where the payload names an identifier that is none; null where it names none. */
export function identifierOf(payment: SignedPayment, terms: PaymentTerms): IdentifierScope | null {
  const id = payment.identifier;
  if (id === null) return null;
  if (typeof id !== 'string' || !isValidPaymentId(id)) throw new InvalidPaymentIdentifier();
  return { network: terms.network, payer: payerOf(payment), id };
}

/** What an identifier stands for at this moment. */
export interface IdentifierState {
  /** Number of the next link. */
  readonly next: number;
  /** Key of the last link. */
  readonly lastKey: string | null;
  /** Another key that this id bound to and that is not free: its answer is the answer. */
  readonly liveKey: string | null;
}

/**
 * Reads the chain of an identifier. Throws `PaymentConflict` where it was given to another request.
 * `isInFlight` knows the keys that this process works on, claimed or not yet.
 */
export async function readIdentifier(
  store: Pick<Store, 'identifiers' | 'ledger'>,
  scope: IdentifierScope,
  request: string,
  ownKey: string,
  isInFlight: (key: string) => boolean,
): Promise<IdentifierState> {
  const chain = await store.identifiers.chain(scope);
  const last = chain.at(-1);
  if (last === undefined) return { next: 1, lastKey: null, liveKey: null };
  if (last.request !== request) {
    throw new PaymentConflict(
      'payment-identifier',
      'This payment identifier was used for another request. Make a new one for each request.',
    );
  }
  let liveKey: string | null = null;
  for (const { key } of chain) {
    if (key === ownKey) continue;
    if (isInFlight(key) || isLive(await store.ledger.entry(key))) liveKey = key;
  }
  return { next: last.n + 1, lastKey: last.key, liveKey };
}

/** Binds an identifier to a key; false where another request was quicker, and all is to be read anew. */
export async function bindIdentifier(
  store: Pick<Store, 'identifiers'>,
  scope: IdentifierScope,
  state: IdentifierState,
  request: string,
  key: string,
): Promise<boolean> {
  if (state.lastKey === key) return true;
  const link = { n: state.next, request, key, attempt: randomUUID() };
  return (await store.identifiers.append(scope, link)) === 'won';
}

function isLive(entry: LedgerEntry | null): boolean {
  return entry !== null && entry.last.state !== 'released' && entry.last.state !== 'failed';
}

/** For so long after it was settled an answer that nobody got whole is owed to its payer. */
const OWED_MS = 10 * 60_000;

/**
 * The key under which this payer has paid, or may have, for this very request without having got
 * the answer in full: clients that lose an answer sign anew, and must not pay twice. Null where
 * there is none.
 */
export async function findLostAnswer(
  store: Pick<Store, 'ledger' | 'now'>,
  { key, payer, request }: Pick<Purchase, 'key' | 'payer' | 'request'>,
  isWritten: (key: string) => boolean,
): Promise<string | null> {
  const sinceMs = store.now() - OWED_MS;
  const entries = await store.ledger.recent({ payer, request, sinceMs });
  const owed = entries.find((entry) => {
    if (entry.key === key) return false;
    if (isInDoubt(entry.last.state)) return true;
    if (!isPaid(entry.last.state) || entry.writtenAtMs !== null) return false;
    return (settledAtMs(entry) ?? 0) >= sinceMs && !isWritten(entry.key);
  });
  return owed?.key ?? null;
}
