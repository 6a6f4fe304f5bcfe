/** Names, connections and counts of one scan. */
import type { SecureContext } from 'node:tls';
import { OriginRefused } from '../../guard/errors.ts';
import { ProbeFailure, type RequestFailure, ResolverDown } from '../../guard/failures.ts';
import { type Connector, openGuarded } from '../../guard/guarded-connect.ts';
import type { Limits } from '../../guard/limits.ts';
import { isAllowedException, type Origin, type OriginPolicy } from '../../guard/origin.ts';
import { type Resolution, type Resolver, resolveHost } from '../../guard/resolve.ts';
import type { ProcessorTime } from '../../guard/timers.ts';
import { originSecureContext } from '../../guard/tls-handshake.ts';
import { retryAfterMs } from '../../parse/text/http-header.ts';
import { OriginPool } from './origin-pool.ts';
import type { ExchangeOutcome, ExchangeRequest } from './response-collector.ts';
import { ScanBudget } from './scan-budget.ts';

export type ScanConnectionsOptions = {
  readonly policy: OriginPolicy;
  readonly resolver: Resolver;
  readonly connector: Connector;
  readonly extraCa: readonly string[];
  readonly limits: Limits;
  readonly processorTime: ProcessorTime;
};

const NO_MORE: RequestFailure = {
  reason: 'rate-limited',
  detail: 'not sent, as the origin kept answering 429',
};

/** Names, connections and counts of one scan; nothing in here is shared with another. */
export class ScanConnections {
  readonly budget: ScanBudget;
  readonly #options: ScanConnectionsOptions;
  #secureContext: SecureContext | undefined;
  readonly #pools = new Map<string, OriginPool>();
  readonly #resolutions = new Map<string, Promise<Resolution>>();
  /** Releases the requests that wait for a name when the scan ends. */
  readonly #end = Promise.withResolvers<{ kind: 'closed'; failure: RequestFailure }>();
  #closed: RequestFailure | null = null;
  #uncured429s = 0;

  constructor(options: ScanConnectionsOptions) {
    this.#options = options;
    this.budget = new ScanBudget(options.limits);
  }

  check(origin: Origin): Promise<Resolution> {
    const { policy, resolver } = this.#options;
    const key = isAllowedException(origin, policy) ? origin.url : origin.hostname;
    const known = this.#resolutions.get(key);
    if (known) return known;
    const resolution = resolveHost(origin, policy, resolver);
    this.#resolutions.set(key, resolution);
    return resolution;
  }

  /** One answer, after the one wait that a 429 may ask for. Throws like `ProbeClient.request`. */
  async exchange(origin: Origin, request: ExchangeRequest): Promise<ExchangeOutcome> {
    const { limits } = this.#options;
    if (this.#uncured429s >= limits.maxRateLimited) return { kind: 'failure', failure: NO_MORE };
    const pool = await this.#poolOf(origin);
    const first = await pool.run(request);
    if (first.kind === 'failure' || first.answer.status !== 429) return first;

    const waitMs = retryAfterMs(first.answer, Date.now()) ?? Number.POSITIVE_INFINITY;
    if (request.method === 'POST' || waitMs > limits.maxRetryAfterMs) {
      this.#uncured429s += 1;
      return first;
    }
    pool.pause(waitMs);
    const second = await pool.run(request);
    // A 429 that was seen says more than what kept us from asking again.
    if (second.kind === 'failure') return first;
    if (second.answer.status === 429) this.#uncured429s += 1;
    return second;
  }

  /** Ends every open request with this failure, and refuses those to come. */
  close(failure: RequestFailure): void {
    this.#closed ??= failure;
    this.#end.resolve({ kind: 'closed', failure: this.#closed });
    for (const pool of this.#pools.values()) pool.close(this.#closed);
  }

  async #poolOf(origin: Origin): Promise<OriginPool> {
    // The end first: a race goes to the first that is settled.
    const resolution = await Promise.race([this.#end.promise, this.check(origin)]);
    switch (resolution.kind) {
      case 'addresses':
        break;
      case 'closed':
        throw new ProbeFailure(resolution.failure.reason, resolution.failure.detail);
      case 'blocked':
        throw new OriginRefused('blocked_ip', `The host is refused: ${resolution.reason}.`);
      case 'unreachable':
        throw new ProbeFailure('dns', resolution.detail);
      case 'our-fault':
        throw new ResolverDown(resolution.detail);
    }
    const known = this.#pools.get(origin.url);
    if (known) return known;
    const pool = this.#newPool(origin, resolution);
    this.#pools.set(origin.url, pool);
    return pool;
  }

  #newPool(origin: Origin, { addresses }: Extract<Resolution, { kind: 'addresses' }>): OriginPool {
    const { policy, connector, limits, extraCa, processorTime } = this.#options;
    const common = { policy, connector, limits, processorTime };
    const secureContext = () => {
      this.#secureContext ??= originSecureContext(extraCa);
      return this.#secureContext;
    };
    return new OriginPool({
      originUrl: origin.url,
      limits,
      budget: this.budget,
      open: (opening) => openGuarded({ ...common, ...opening, origin, addresses, secureContext }),
    });
  }
}
