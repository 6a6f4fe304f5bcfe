/** Readiness: asks facilitator and node at the start, and again until both have answered. */
import { checkNode, type NodeRequests, NodeUnreachable } from '../chain/node-requests.ts';
import type { PaymentTerms } from '../terms.ts';
import { type Facilitator, FacilitatorUnreachable } from './facilitator.ts';

/** The facilitator does not support our kind of payment, so a retry would not help. */
export class UnsupportedByFacilitator extends Error {
  override readonly name = 'UnsupportedByFacilitator';
}

export type ReadinessOptions = {
  readonly facilitator: Facilitator;
  /** Null if no chain is asked. */
  readonly node: NodeRequests | null;
  readonly terms: Pick<PaymentTerms, 'network' | 'asset'>;
  /** Reason that nothing can be delivered, so nothing may be sold; null while it can. */
  readonly findFault?: (() => string | null) | undefined;
  readonly retryIntervalMs?: number | undefined;
  /** Wait of the start for an answer; default 3 s. */
  readonly startWithinMs?: number | undefined;
  /** Reports each failed try, and faults that no retry mends. */
  readonly onError?: ((message: string, error: Error) => void) | undefined;
};

const UNREACHED = 'payments cannot be taken yet';
const RETRY_INTERVAL_MS = 5_000;
const START_WITHIN_MS = 3_000;

/** Knows if facilitator and node were ever reached, and if the facilitator can settle and we can deliver now. */
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

  /** Reason that payments are not taken now, for operators; null while they are. */
  unreadyReason(): string | null {
    if (!this.#isReached) return 'the facilitator, or RPC_URL, was not reached yet';
    const { facilitator, findFault } = this.#options;
    return findFault?.() ?? facilitator.unreadyReason?.() ?? null;
  }

  /**
   * Throws `UnsupportedByFacilitator` or `WrongNode`; who does not answer in time is asked again
   * later, and paid routes are closed until then.
   */
  async start(): Promise<void> {
    const { startWithinMs = START_WITHIN_MS, onError } = this.#options;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new FacilitatorUnreachable(`no answer within ${startWithinMs} ms`)),
      startWithinMs,
    );
    const asking = this.#ask();
    try {
      await Promise.race([asking, late.promise]);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      onError?.(UNREACHED, error);
      // The first try may still run; the next one reports its failure.
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
      facilitator.supported(),
      node === null ? null : checkNode(node, terms),
    ]);
    const isOurs = kinds.some(
      (kind) =>
        kind.x402Version === 2 &&
        kind.scheme === 'exact' &&
        (kind.network === terms.network || kind.network === 'eip155:*'),
    );
    if (!isOurs) {
      throw new UnsupportedByFacilitator(
        `The facilitator (${facilitator.location}) does not take x402 version 2, scheme exact, on ${terms.network}: change NETWORK, or FACILITATOR_URL or RPC_URL.`,
      );
    }
    if (this.#isReached || this.#isStopped) return;
    this.#isReached = true;
    facilitator.start?.();
  }

  #retryLater(): void {
    const { retryIntervalMs = RETRY_INTERVAL_MS, onError } = this.#options;
    this.#timer = setTimeout(() => {
      this.#ask().catch((error: Error) => {
        onError?.(UNREACHED, error);
        if (!this.#isStopped) this.#retryLater();
      });
    }, retryIntervalMs);
    this.#timer.unref();
  }
}

function isUnreachable(error: unknown): error is Error {
  return error instanceof FacilitatorUnreachable || error instanceof NodeUnreachable;
}
