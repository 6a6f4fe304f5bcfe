/** Asks the facilitator and the node at the start, and again until both have answered. */
import { OperatorError } from '../../../scanner/model/redact.ts';
import { checkNode, type NodeRequests, NodeUnreachable } from '../chain/node-requests.ts';
import type { PaymentTerms } from '../terms.ts';
import type { PaymentTiming } from '../timing.ts';
import { type Facilitator, FacilitatorUnreachable } from './facilitator.ts';

/** The facilitator does not support our kind of payment, so a retry would not help. */
export class UnsupportedByFacilitator extends OperatorError {
  override readonly name = 'UnsupportedByFacilitator';
}

export type ReadinessOptions = {
  readonly facilitator: Facilitator;
  /** Null without `RPC_URL`, and in mock mode. */
  readonly node: NodeRequests | null;
  readonly terms: Pick<PaymentTerms, 'network' | 'asset'>;
  /** Returns the reason why no answer can be delivered or sold; null while answers can be delivered. */
  readonly findFault?: (() => string | null) | undefined;
  readonly timing: Pick<PaymentTiming, 'startWithinMs' | 'readinessRetryMs'>;
  /** Reports each failed attempt, and faults that a retry cannot mend. */
  readonly onError?: ((message: string, error: Error) => void) | undefined;
};

const NOT_REACHED_MESSAGE = 'payments cannot be taken yet';

/** Payments are taken once facilitator and node have answered, while we can settle and deliver. */
export class PaymentsReadiness {
  readonly #options: ReadinessOptions;
  #isReached = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#isReached && this.unreadyReason() === null;
  }

  /** Reason, for operators, why no payments are taken now; null while they are taken. */
  unreadyReason(): string | null {
    if (!this.#isReached) return 'the facilitator, or RPC_URL, was not reached yet';
    const { facilitator, findFault } = this.#options;
    return findFault?.() ?? facilitator.unreadyReason?.() ?? null;
  }

  /** Throws `UnsupportedByFacilitator` or `WrongNode`. Without an answer in time, it asks both again later. */
  async start(): Promise<void> {
    const { timing, onError } = this.#options;
    const { startWithinMs } = timing;
    const timeUp = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => timeUp.reject(new FacilitatorUnreachable(`no answer within ${startWithinMs} ms`)),
      startWithinMs,
    );
    const asking = this.#ask();
    try {
      await Promise.race([asking, timeUp.promise]);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      onError?.(NOT_REACHED_MESSAGE, error);
      // The first attempt may still run. The next attempt reports its own failure.
      asking.catch(() => undefined);
      this.#retryLater();
    } finally {
      clearTimeout(timer);
    }
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const { facilitator, node, terms } = this.#options;
    const [kinds] = await Promise.all([
      facilitator.findSupported(),
      node === null ? null : checkNode(node, terms),
    ]);
    const isSupported = kinds.some(
      (kind) =>
        kind.x402Version === 2 &&
        kind.scheme === 'exact' &&
        (kind.network === terms.network || kind.network === 'eip155:*'),
    );
    if (!isSupported) {
      throw new UnsupportedByFacilitator(
        `The facilitator (${facilitator.location}) does not take x402 version 2, scheme exact, on ${terms.network}: change NETWORK, or FACILITATOR_URL or RPC_URL.`,
      );
    }
    if (this.#isReached || this.#isStopped) return;
    this.#isReached = true;
    facilitator.start?.();
  }

  #retryLater(): void {
    const { timing, onError } = this.#options;
    this.#timer = setTimeout(() => {
      this.#ask().catch((error: Error) => {
        onError?.(NOT_REACHED_MESSAGE, error);
        if (!this.#isStopped) this.#retryLater();
      });
    }, timing.readinessRetryMs);
    this.#timer.unref();
  }
}

function isUnreachable(error: unknown): error is Error {
  return error instanceof FacilitatorUnreachable || error instanceof NodeUnreachable;
}
