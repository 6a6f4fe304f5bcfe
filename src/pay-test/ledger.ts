import { randomBytes } from 'node:crypto';

export type Step = 'verify' | 'settle';

/** What a facilitator was asked, in order. */
export type Call = {
  readonly step: Step;
  readonly nonce: string;
  /** The terms as the seller handed them over. */
  readonly requirements: Readonly<Record<string, unknown>>;
  /** Whether the payment was found good, or the settlement made. */
  readonly isGood: boolean;
};

export type Settled = { readonly transaction: string; readonly amount: string };

/** Settlements by nonce: there is no chain, so this is where money would have moved. */
export class Ledger {
  readonly #calls: Call[] = [];
  readonly #settled = new Map<string, Settled>();

  record(call: Call): void {
    this.#calls.push(call);
  }

  /** The transaction, or null where the nonce was used: decided at once, whoever races for it. */
  settle(nonce: string, amount: string): Settled | null {
    if (this.#settled.has(nonce)) return null;
    const settled = { transaction: `0x${randomBytes(32).toString('hex')}`, amount };
    this.#settled.set(nonce, settled);
    return settled;
  }

  settled(nonce: string): Settled | null {
    return this.#settled.get(nonce) ?? null;
  }

  calls(nonce: string, step?: Step): readonly Call[] {
    return this.#calls.filter(
      (call) => call.nonce === nonce && (step === undefined || call.step === step),
    );
  }

  /** "verify once, settle twice", for evidence. */
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
