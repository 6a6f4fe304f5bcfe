/** Makes and stores the paid answers, and records which of them were written in full. */
import { randomUUID } from 'node:crypto';
import type { AnswerStore } from '../../store/answers.ts';
import type { ComputedAnswer, PaidRouteAnswer } from '../paid-route.ts';
import { type GateDeps, type PaidDelivery, type Purchase, publishStep } from './purchase.ts';
import { encodeSettlement } from './refusals.ts';

type SendOptions = {
  /** The request carried `X-PAYMENT`. */
  readonly hasLegacyHeader: boolean;
  /** False only for the call whose payment was just charged. */
  readonly isRedelivered: boolean;
  /** Called when the last byte was handed to the client's connection. */
  markWritten(): void;
};

export function toPaidAnswer(delivery: PaidDelivery, options: SendOptions): PaidRouteAnswer {
  const settlement = encodeSettlement(delivery.settlement);
  const { body } = delivery;
  const answer: PaidRouteAnswer = {
    status: 200,
    headers: {
      ...delivery.headers,
      'content-length': String(delivery.bodyBytes),
      'cache-control': 'private, no-store',
      'payment-response': settlement,
      ...(options.hasLegacyHeader ? { 'x-payment-response': settlement } : {}),
      ...(options.isRedelivered ? { 'x-redelivered': '1' } : {}),
    },
    body: typeof body === 'string' ? body : body(),
    markWritten: options.markWritten,
  };
  publishStep({ name: 'answer', answer, bodyBytes: delivery.bodyBytes });
  return answer;
}

type StoredDelivery = {
  readonly answerId: string;
  /** Its settlement has no transaction, because the answer is not paid for yet. */
  readonly delivery: PaidDelivery;
};

/** Stores the whole answer. The ledger step `settling` makes the answer durable before the payment is sent. */
export async function storeDelivery(
  answers: AnswerStore,
  { key, payment: { authorization, requirements } }: Purchase,
  computed: ComputedAnswer,
): Promise<StoredDelivery> {
  const { network } = requirements;
  const common = { key, settlement: { network, payer: authorization.from, transaction: null } };
  if ('answerId' in computed) {
    const { answerId } = computed;
    const stored = await answers.get(answerId);
    if (stored === null) throw new Error(`Answer ${answerId} is not stored, or was purged.`);
    const { headers, bodyBytes } = stored;
    return { answerId, delivery: { ...common, headers, bodyBytes, body: () => stored.body() } };
  }
  const { headers, body, reportOf } = computed;
  const answerId = randomUUID();
  const pieces = [Buffer.from(body)];
  const { bodyBytes } = await answers.put(answerId, { status: 200, headers }, pieces, reportOf);
  // The body stays in memory, so that it can be sent even if the store fails after the settlement.
  return { answerId, delivery: { ...common, headers, bodyBytes, body } };
}

/** Records which answers were written to their clients in full: at once in memory, then in the ledger. */
export class WrittenAnswers {
  readonly #deps: GateDeps;
  readonly #marking = new Map<string, Promise<void>>();

  constructor(deps: GateDeps) {
    this.#deps = deps;
  }

  mark(key: string): void {
    if (this.#marking.has(key)) return;
    const { store, onError } = this.#deps;
    const marking = store.ledger
      .markWritten(key)
      .catch((error: unknown) => onError(`${key} counts as not written`, error))
      .finally(() => this.#marking.delete(key));
    this.#marking.set(key, marking);
  }

  /** True if the answer was written and the ledger may not have its mark yet. */
  isBeingMarked(key: string): boolean {
    return this.#marking.has(key);
  }

  /** Waits until all marks are in the ledger, or failed. */
  async flush(): Promise<void> {
    await Promise.all(this.#marking.values());
  }
}
