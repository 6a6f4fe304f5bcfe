import type { SecureContext } from 'node:tls';
import {
  OriginRefused,
  OurFault,
  ProbeFailure,
  type RequestFailure,
} from '../../guard/failures.ts';
import { type GuardedTarget, openGuarded } from '../../guard/guarded-connect.ts';
import { ScanBudget } from '../../guard/limits.ts';
import type { Address, Resolver } from '../../guard/name-servers.ts';
import { isAllowedException, type Origin } from '../../guard/origin.ts';
import { type Resolution, resolveHost } from '../../guard/resolve.ts';
import { createOriginContext } from '../../guard/tls-handshake.ts';
import { readRetryAfterMs } from '../../parse/text/http-header.ts';
import { OriginPool } from './origin-pool.ts';
import type { ExchangeOutcome, ExchangeRequest } from './response-collector.ts';

type ScanConnectionsOptions = Pick<
  GuardedTarget,
  'policy' | 'connector' | 'limits' | 'processorTime'
> & { readonly resolver: Resolver; readonly extraCa: readonly string[] };

const REFUSED_AFTER_429S: RequestFailure = {
  reason: 'rate-limited',
  detail: 'not sent, as the origin kept answering 429',
};

/** Resolved names, connections and counts of one scan. Other scans share none of them. */
export class ScanConnections {
  readonly budget: ScanBudget;
  readonly #options: ScanConnectionsOptions;
  #secureContext: SecureContext | undefined;
  readonly #pools = new Map<string, OriginPool>();
  readonly #resolutions = new Map<string, Promise<Resolution>>();
  /** Resolves when the scan ends, so that requests do not wait for name servers. */
  readonly #ended = Promise.withResolvers<{ kind: 'closed'; failure: RequestFailure }>();
  #closeFailure: RequestFailure | null = null;
  /** Number of requests whose final answer was a 429. */
  #final429s = 0;

  constructor(options: ScanConnectionsOptions) {
    this.#options = options;
    this.budget = new ScanBudget(options.limits);
  }

  resolveOrigin(origin: Origin): Promise<Resolution> {
    const { policy, resolver, limits } = this.#options;
    const key = isAllowedException(origin, policy) ? origin.url : origin.hostname;
    const resolution =
      this.#resolutions.get(key) ?? resolveHost(origin, policy, resolver, limits.maxDnsTries);
    this.#resolutions.set(key, resolution);
    return resolution;
  }

  /** Sends a request, and sends it once more after a 429 and its `Retry-After`. Throws like `ProbeClient.request`. */
  async exchange(origin: Origin, request: ExchangeRequest): Promise<ExchangeOutcome> {
    const { limits } = this.#options;
    if (this.#final429s >= limits.maxRateLimited)
      return { kind: 'failure', failure: REFUSED_AFTER_429S };
    const pool = await this.#findPool(origin);
    const first = throwIfOurs(await pool.run(request));
    if (first.kind === 'failure' || first.answer.status !== 429) return first;

    const waitMs = readRetryAfterMs(first.answer, Date.now()) ?? Number.POSITIVE_INFINITY;
    if (request.method === 'POST' || waitMs > limits.maxRetryAfterMs) {
      this.#final429s += 1;
      return first;
    }
    pool.pause(waitMs);
    const second = throwIfOurs(await pool.run(request));
    // The 429 says more about the origin than the failure of the second request.
    if (second.kind === 'failure') return first;
    if (second.answer.status === 429) this.#final429s += 1;
    return second;
  }

  /** Ends every open request with this failure, and refuses later requests. */
  close(failure: RequestFailure): void {
    this.#closeFailure ??= failure;
    this.#ended.resolve({ kind: 'closed', failure: this.#closeFailure });
    for (const pool of this.#pools.values()) pool.close(this.#closeFailure);
  }

  async #findPool(origin: Origin): Promise<OriginPool> {
    // `#ended` stands first. If both promises are settled, the race returns the first.
    const resolution = await Promise.race([this.#ended.promise, this.resolveOrigin(origin)]);
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
        throw new OurFault(resolution.detail);
    }
    const { addresses } = resolution;
    const pool = this.#pools.get(origin.url) ?? this.#createPool(origin, addresses);
    this.#pools.set(origin.url, pool);
    return pool;
  }

  #createPool(origin: Origin, addresses: readonly Address[]): OriginPool {
    const options = this.#options;
    const secureContext = () => {
      this.#secureContext ??= createOriginContext(options.extraCa);
      return this.#secureContext;
    };
    return new OriginPool({
      originUrl: origin.url,
      limits: options.limits,
      budget: this.budget,
      open: (opening) => openGuarded({ ...options, ...opening, origin, addresses, secureContext }),
    });
  }
}

function throwIfOurs(outcome: ExchangeOutcome): ExchangeOutcome {
  if (outcome.kind !== 'failure' || outcome.failure.remedy === undefined) return outcome;
  throw new OurFault(outcome.failure.detail, outcome.failure.remedy);
}
