/** A paid answer on its way to the holder of its payment. */
import { AnswerExpired } from '../errors/errors.ts';
import type { AnswerStore } from '../store/contract/answers.ts';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import type { PaymentTerms } from './challenge.ts';
import { storedPayment, transactionOf } from './ledger.ts';
import { isUnproved } from './publisher.ts';

/** A paid answer, ready for as many connections as ask for it. */
export type Delivery = {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
  readonly body: string | (() => AsyncIterable<Uint8Array>);
  readonly settlement: {
    readonly network: PaymentTerms['network'];
    readonly payer: string;
    readonly transaction: string | null;
  };
};

/** Throws `AnswerExpired` where the answer of a settled key was purged. */
export async function deliveryOf(answers: AnswerStore, entry: LedgerEntry): Promise<Delivery> {
  const { answerId } = entry.last;
  const answer = answerId === undefined ? null : await answers.get(answerId);
  if (answer === null) throw new AnswerExpired();
  const { authorization, requirements } = storedPayment(entry);
  return {
    key: entry.key,
    headers: isUnproved(entry) ? { ...answer.headers, 'x-settlement': 'unproved' } : answer.headers,
    bodyBytes: answer.bodyBytes,
    body: () => answer.body(),
    settlement: {
      network: requirements.network,
      payer: authorization.from,
      transaction: transactionOf(entry),
    },
  };
}
