import { randomUUID } from 'node:crypto';
import type { AnswerStore, StoredAnswer } from '../store/contract/answers.ts';
import type { Delivery } from './delivery.ts';
import type { ComputedAnswer } from './paid-route.ts';
import type { PaidWork } from './paid-work.ts';

export interface StoredDelivery {
  readonly answerId: string;
  /** Not yet paid for: `transaction` is null. */
  readonly delivery: Delivery;
}

/** Stores what a route computed, whole and durable, before anything is charged for it. */
export async function storeDelivery(
  answers: AnswerStore,
  work: PaidWork,
  computed: ComputedAnswer,
): Promise<StoredDelivery> {
  if ('answerId' in computed) {
    const stored = await requireAnswer(answers, computed.answerId);
    return deliveryFrom(work, stored);
  }
  const { headers, body } = computed;
  const answerId = randomUUID();
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : body;
  const { bodyBytes } = await answers.put(answerId, { status: 200, headers }, pieces);
  if (typeof body !== 'string') return deliveryFrom(work, await requireAnswer(answers, answerId));
  // Kept at hand: should the store fail once this is paid for, it is sent all the same.
  return { answerId, delivery: { ...unpaid(work), headers, bodyBytes, body } };
}

function deliveryFrom(work: PaidWork, stored: StoredAnswer): StoredDelivery {
  const { answerId, headers, bodyBytes } = stored;
  return {
    answerId,
    delivery: { ...unpaid(work), headers, bodyBytes, body: () => stored.body() },
  };
}

function unpaid({ key, payment, offer }: PaidWork): Pick<Delivery, 'key' | 'settlement'> {
  const { network } = offer.requirements;
  return {
    key,
    settlement: { network, payer: payment.authorization.from, transaction: null },
  };
}

async function requireAnswer(answers: AnswerStore, answerId: string): Promise<StoredAnswer> {
  const stored = await answers.get(answerId);
  if (stored === null) throw new Error(`Answer ${answerId} is not stored, or was purged.`);
  return stored;
}
