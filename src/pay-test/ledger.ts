import { randomBytes } from 'node:crypto';

export type Step = 'verify' | 'settle';

/** A call of the facilitator. */
export type FacilitatorCall = {
  readonly step: Step;
  readonly nonce: string;
  /** `paymentPayload` of the call. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** `paymentRequirements` of the call. */
  readonly requirements: Readonly<Record<string, unknown>>;
  /** True if verify found the payment valid, or settle took it. */
  readonly isGood: boolean;
};

export type LedgerSettlement = { readonly transaction: string; readonly amount: string };

/** Records calls and settlements by nonce, in place of a chain. */
export class Ledger {
  readonly #calls: FacilitatorCall[] = [];
  readonly #settled = new Map<string, LedgerSettlement>();
  readonly #transactions = new Map<string, string>();

  record(call: FacilitatorCall): void {
    this.#calls.push(call);
  }

  /** Null if the nonce was used. Synchronous, so that racing calls settle once. */
  settle(nonce: string, amount: string): LedgerSettlement | null {
    if (this.#settled.has(nonce)) return null;
    const settled = { transaction: this.transactionOf(nonce), amount };
    this.#settled.set(nonce, settled);
    return settled;
  }

  /** The one transaction that spends the nonce, also while it is pending. */
  transactionOf(nonce: string): string {
    const known = this.#transactions.get(nonce);
    if (known !== undefined) return known;
    const transaction = `0x${randomBytes(32).toString('hex')}`;
    this.#transactions.set(nonce, transaction);
    return transaction;
  }

  settled(nonce: string): LedgerSettlement | null {
    return this.#settled.get(nonce) ?? null;
  }

  calls(nonce: string, step?: Step): readonly FacilitatorCall[] {
    return this.#calls.filter(
      (call) => call.nonce === nonce && (step === undefined || call.step === step),
    );
  }

  /** "asked verify once, settle 2 times" */
  describe(nonce: string): string {
    const counts = (['verify', 'settle'] as const).flatMap((step) => {
      const count = this.calls(nonce, step).length;
      return count === 0 ? [] : [`${step} ${times(count)}`];
    });
    return counts.length === 0 ? 'asked nothing of the facilitator' : `asked ${counts.join(', ')}`;
  }
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
