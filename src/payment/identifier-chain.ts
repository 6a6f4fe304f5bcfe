import { randomUUID } from 'node:crypto';
import { isValidPaymentId } from '@x402/extensions/payment-identifier';
import { InvalidPaymentIdentifier, PaymentConflict } from '../errors/errors.ts';
import type { IdentifierScope } from '../store/contract/identifiers.ts';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import type { Store } from '../store/contract/store.ts';
import { payerOf } from './payment-key.ts';
import type { PaymentTerms } from './payment-terms.ts';
import type { SignedPayment } from './signed-payment.ts';

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
