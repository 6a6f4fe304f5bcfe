import { PaymentConflict } from '../errors/errors.ts';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import type { Delivery } from './delivery.ts';
import { differingField, type StoredPayment, storedPayment } from './ledger-rows.ts';
import type { PaidRun } from './paid-run.ts';
import type { PaidWork } from './paid-work.ts';

/** A key that this process works on at this moment. */
export interface Flight {
  readonly request: string;
  readonly payment: StoredPayment;
  readonly run: Pick<PaidRun<unknown>, 'isSettling'>;
  /** Its key is free, or in the ledger, by the time this settles. */
  readonly outcome: Promise<Delivery>;
}

export class Flights {
  readonly #flights = new Map<string, Flight>();

  get(key: string): Flight | undefined {
    return this.#flights.get(key);
  }

  has(key: string): boolean {
    return this.#flights.has(key);
  }

  /** The caller has made sure that there is none for this key. */
  start<Input>(work: PaidWork<Input>, run: PaidRun<Input>): Flight {
    const outcome = run.run().finally(() => this.#flights.delete(work.key));
    // Everybody who waited may have gone by the time it fails.
    outcome.catch(() => undefined);
    const payment = { ...work.payment, requirements: work.offer.requirements };
    const flight: Flight = { request: work.request, payment, run, outcome };
    this.#flights.set(work.key, flight);
    return flight;
  }

  async allEnded(): Promise<void> {
    await Promise.allSettled([...this.#flights.values()].map(({ outcome }) => outcome));
  }
}

/** One authorization buys one request: throws `PaymentConflict`, naming the field that differs. */
export function refuseConflict(
  held: { readonly request: string; readonly payment: StoredPayment },
  { request, payment, route }: PaidWork,
): void {
  if (held.request !== request) {
    const isOtherRoute = !held.request.startsWith(`${route.name} `);
    const field = isOtherRoute ? 'route' : 'request';
    throw new PaymentConflict(
      field,
      `This payment was used for another ${field}, "${held.request}". Sign a new one for this.`,
    );
  }
  const field = differingField(held.payment, payment);
  if (field === null) return;
  throw new PaymentConflict(
    field,
    `This nonce was used with another "${field}". Sign with a new nonce.`,
  );
}

export function heldBy(entry: LedgerEntry): { request: string; payment: StoredPayment } {
  return { request: entry.last.request, payment: storedPayment(entry) };
}
