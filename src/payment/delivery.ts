import { AnswerExpired } from '../errors/errors.ts';
import type { AnswerStore } from '../store/contract/answers.ts';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import { encodeSettlement } from './challenge.ts';
import type { Failpoints } from './failpoints.ts';
import { storedPayment, transactionOf } from './ledger-rows.ts';
import type { PaidAnswer } from './paid-call.ts';
import type { PaymentTerms } from './payment-terms.ts';

/** A paid answer, ready for as many connections as ask for it. */
export interface Delivery {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
  readonly body: string | (() => AsyncIterable<Uint8Array>);
  readonly settlement: {
    readonly network: PaymentTerms['network'];
    readonly payer: string;
    readonly transaction: string | null;
  };
}

/** Throws `AnswerExpired` where the answer of a settled key was purged. */
export async function deliveryOf(answers: AnswerStore, entry: LedgerEntry): Promise<Delivery> {
  const { answerId } = entry.last;
  const answer = answerId === undefined ? null : await answers.get(answerId);
  if (answer === null) throw new AnswerExpired();
  const { authorization, requirements } = storedPayment(entry);
  return {
    key: entry.key,
    headers: answer.headers,
    bodyBytes: answer.bodyBytes,
    body: () => answer.body(),
    settlement: {
      network: requirements.network,
      payer: authorization.from,
      transaction: transactionOf(entry),
    },
  };
}

export interface SendOptions {
  /** The request carried `X-PAYMENT`. */
  readonly legacyHeader: boolean;
  /** This is not the call that was charged for it. */
  readonly isRedelivered: boolean;
  readonly failpoints: Failpoints;
  written(): void;
}

export function paidAnswer(delivery: Delivery, options: SendOptions): PaidAnswer {
  const settlement = encodeSettlement(delivery.settlement);
  const { body } = delivery;
  const whole = typeof body === 'string' ? body : body();
  return {
    status: 200,
    headers: {
      ...delivery.headers,
      'content-length': String(delivery.bodyBytes),
      'cache-control': 'private, no-store',
      'payment-response': settlement,
      ...(options.legacyHeader ? { 'x-payment-response': settlement } : {}),
      ...(options.isRedelivered ? { 'x-redelivered': '1' } : {}),
    },
    body: options.failpoints.isArmed
      ? inHalves(whole, delivery.bodyBytes, options.failpoints)
      : whole,
    written: options.written,
  };
}

/** So that a test can end the process when the first half is on its way. */
async function* inHalves(
  body: string | AsyncIterable<Uint8Array>,
  bodyBytes: number,
  failpoints: Failpoints,
): AsyncIterable<Uint8Array> {
  let left = Math.floor(bodyBytes / 2);
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : body;
  for await (const piece of pieces) {
    if (left > piece.length || left < 0) {
      left -= piece.length;
      yield piece;
      continue;
    }
    yield piece.subarray(0, left);
    // The half is with the kernel once the event loop has been round.
    await new Promise((resolve) => setTimeout(resolve, 20));
    failpoints.pass('half-written');
    yield piece.subarray(left);
    left = -1;
  }
}
