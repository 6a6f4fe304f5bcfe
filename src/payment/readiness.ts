import type { EvmNetwork } from './challenge.ts';
import { type Facilitator, FacilitatorUnreachable } from './facilitator.ts';

/** The facilitator answers, and does not take our kind of payment: no retry would help. */
export class UnsupportedByFacilitator extends Error {
  override readonly name = 'UnsupportedByFacilitator';
}

export interface ReadinessOptions {
  readonly facilitator: Facilitator;
  readonly network: EvmNetwork;
  readonly retryIntervalMs?: number | undefined;
  /** How long the start waits for an answer; default 3 s. */
  readonly startWithinMs?: number | undefined;
  readonly onReached?: (() => void) | undefined;
  /** Told of each try that failed, and of a facilitator that turns out not to support us. */
  readonly onTrouble?: ((error: Error) => void) | undefined;
}

const RETRY_INTERVAL_MS = 5_000;
const START_WITHIN_MS = 3_000;

/** Knows whether the facilitator was ever reached; asks again in the background until it was. */
export class FacilitatorReadiness {
  readonly #options: ReadinessOptions;
  #isReached = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  get isReached(): boolean {
    return this.#isReached;
  }

  /** Throws `UnsupportedByFacilitator`; one that does not answer in time is asked again later. */
  async start(): Promise<void> {
    const { startWithinMs = START_WITHIN_MS, onTrouble } = this.#options;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new FacilitatorUnreachable(`no answer within ${startWithinMs} ms`)),
      startWithinMs,
    );
    const asking = this.#ask();
    try {
      await Promise.race([asking, late.promise]);
    } catch (error) {
      if (!(error instanceof FacilitatorUnreachable)) throw error;
      onTrouble?.(error);
      // The first try may still be under way; its failure is told of by the next one.
      asking.catch(() => undefined);
      this.#retryLater();
    } finally {
      clearTimeout(timer);
    }
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #ask(): Promise<void> {
    const { facilitator, network, onReached } = this.#options;
    const kinds = await facilitator.supported();
    const isOurs = kinds.some(
      (kind) =>
        kind.x402Version === 2 &&
        kind.scheme === 'exact' &&
        (kind.network === network || kind.network === 'eip155:*'),
    );
    if (!isOurs) {
      throw new UnsupportedByFacilitator(
        `The facilitator (${facilitator.location}) does not take x402 version 2, scheme exact, on ${network}: change NETWORK, or FACILITATOR_URL or RPC_URL.`,
      );
    }
    this.#isReached = true;
    onReached?.();
  }

  #retryLater(): void {
    const { retryIntervalMs = RETRY_INTERVAL_MS, onTrouble } = this.#options;
    this.#timer = setTimeout(() => {
      this.#ask().catch((error: Error) => {
        onTrouble?.(error);
        if (this.#timer !== null) this.#retryLater();
      });
    }, retryIntervalMs);
    this.#timer.unref();
  }
}
