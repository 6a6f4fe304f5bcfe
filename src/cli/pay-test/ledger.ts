import { randomBytes } from 'node:crypto';
import type { Members } from './judge-payment.ts';

export type Step = 'verify' | 'settle';

export type FacilitatorCall = {
  readonly step: Step;
  readonly nonce: string;
  /** `paymentPayload` of the call. */
  readonly payload: Members;
  /** `paymentRequirements` of the call. */
  readonly requirements: Members;
  /** `invalidReason` or `errorReason` of the answer; null if verify found the payment valid, or settle succeeded. */
  readonly reason: string | null;
};

/** Records calls and settlements by nonce, in place of a blockchain. */
export class Ledger {
  readonly #calls: FacilitatorCall[] = [];
  readonly #settledNonces = new Set<string>();
  readonly #transactions = new Map<string, string>();
  readonly #signedNonces = new Set<string>();

  record(call: FacilitatorCall): void {
    this.#calls.push(call);
  }

  addSignedNonce(nonce: string): void {
    this.#signedNonces.add(nonce);
  }

  /** Number of all calls until now: the `start` of `listCallsSince`. */
  get callCount(): number {
    return this.#calls.length;
  }

  /**
   * Lists the calls about one payment since `start`. They include calls with a nonce that our payer never signed,
   * but no late calls about earlier payments.
   */
  listCallsSince(nonce: string, start: number, step: Step): readonly FacilitatorCall[] {
    return this.#calls
      .slice(start)
      .filter(
        (call) =>
          call.step === step && (call.nonce === nonce || !this.#signedNonces.has(call.nonce)),
      );
  }

  /** Returns false if the nonce was used. Synchronous, so that only one of several racing calls settles. */
  settle(nonce: string): boolean {
    const isNew = !this.#settledNonces.has(nonce);
    this.#settledNonces.add(nonce);
    return isNew;
  }

  isSettled(nonce: string): boolean {
    return this.#settledNonces.has(nonce);
  }

  /** The transaction that spends the nonce. A pending payment keeps its transaction when it is settled. */
  getTransaction(nonce: string): string {
    const existing = this.#transactions.get(nonce);
    if (existing !== undefined) return existing;
    const transaction = `0x${randomBytes(32).toString('hex')}`;
    this.#transactions.set(nonce, transaction);
    return transaction;
  }

  listCalls(nonce: string, step?: Step): readonly FacilitatorCall[] {
    return this.#calls.filter(
      (call) => call.nonce === nonce && (step === undefined || call.step === step),
    );
  }

  hasCall(nonce: string, step: Step): boolean {
    return this.listCalls(nonce, step).length > 0;
  }

  /** "asked verify once, settle 2 times" */
  describeCalls(nonce: string): string {
    const counts = (['verify', 'settle'] as const).flatMap((step) => {
      const count = this.listCalls(nonce, step).length;
      return count === 0 ? [] : [`${step} ${formatTimes(count)}`];
    });
    return counts.length === 0 ? 'asked nothing of the facilitator' : `asked ${counts.join(', ')}`;
  }
}

function formatTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
