/** The requests of one day to one origin. */
import type { Origin } from '../guard/origin.ts';
import type { AdmitAddresses } from '../limits/origin-turns.ts';
import { askOne, TOO_MANY } from '../looks/ask-resources.ts';
import { NoPlace } from '../looks/in-turn.ts';
import type { HttpObservation } from '../model/observations.ts';
import { retryAfterMs } from '../parse/text/http-header.ts';
import type { PreflightEngine } from '../preflight/judge-challenge.ts';
import type { CreateProbeClient, ProbeClient, ProbeClientOptions } from '../probe/client/client.ts';
import { readAllowed } from '../scan/census-plan.ts';
import type { ResourceSign } from '../scan/day-word.ts';
import type { CensusResource } from '../scan/scanner.ts';

/** The name by which robots.txt addresses the census. */
export const ROBOTS_AGENT = 'x402-conformance-scanner';

/** Whether robots.txt allows a path. */
export type AllowedPaths = Readonly<Record<string, boolean>>;

export type ListedQuestion = {
  readonly resources: readonly CensusResource[];
  /** What an earlier robots.txt said. */
  readonly allowed: AllowedPaths;
  /** Paths for which robots.txt is read first; empty: it is not read. */
  readonly robotsFor: readonly string[];
};

export type ListedAnswer = {
  /** One for each resource that was asked. */
  readonly signs: readonly ResourceSign[];
  /** Null if robots.txt was not read, or did not answer. */
  readonly allowed: AllowedPaths | null;
  /** The longest wait that the origin asked for; null if it asked for none. */
  readonly restMs: number | null;
  /** Processor time of TLS handshakes. */
  readonly handshakeMs: number;
};

/**
 * Asks each resource once, until one answers 429. Throws NoPlace if `admit` allows no request at all; rejects if the
 * fault is ours.
 */
export type AskListed = (
  origin: Origin,
  question: ListedQuestion,
  admit: AdmitAddresses,
) => Promise<ListedAnswer>;

export type AskListedOptions = {
  readonly engine: PreflightEngine;
  readonly createClient: CreateProbeClient;
} & Pick<ProbeClientOptions, 'policy' | 'userAgent'>;

const ROBOTS = { path: '/robots.txt', capBytes: 512 * 1_024, accept: 'text/plain' } as const;
const TIMEOUT_MS = 10_000;
/** One redirect is followed, and no answer is asked for again. */
const LIMITS = { maxRedirects: 1, maxRetryAfterMs: -1 };
const BUSY: ReadonlySet<number> = new Set([TOO_MANY, 503]);
const SERVER_ERROR = 500;
const NO_ADDRESS: ResourceSign = { status: null, reason: 'dns', payableBy: null };

export function createAskListed({ engine, createClient, ...options }: AskListedOptions): AskListed {
  return async (origin, question, admit) => {
    const client = createClient({ ...options, limits: LIMITS });
    try {
      const resolved = await client.check(origin);
      if (resolved.kind === 'our-fault') throw new Error(resolved.detail);
      if (resolved.kind !== 'addresses') return { ...NOT_ASKED, signs: [NO_ADDRESS] };
      const asking = new Asking(client, origin, engine, () => admit(resolved.addresses));
      await asking.ask(question);
      return { ...asking.answer(), handshakeMs: client.stats().handshakeMs };
    } finally {
      client.close();
    }
  };
}

const NOT_ASKED: ListedAnswer = { signs: [], allowed: null, restMs: null, handshakeMs: 0 };

class Asking {
  readonly #client: ProbeClient;
  readonly #origin: Origin;
  readonly #engine: PreflightEngine;
  readonly #admit: () => Promise<boolean>;
  readonly #signs: ResourceSign[] = [];
  #allowed: AllowedPaths | null = null;
  #restMs: number | null = null;

  constructor(
    client: ProbeClient,
    origin: Origin,
    engine: PreflightEngine,
    admit: () => Promise<boolean>,
  ) {
    this.#client = client;
    this.#origin = origin;
    this.#engine = engine;
    this.#admit = admit;
  }

  async ask({ resources, allowed, robotsFor }: ListedQuestion): Promise<void> {
    const isReading = robotsFor.length > 0;
    if (isReading && !(await this.#admit())) throw new NoPlace();
    if (isReading && (await this.#readRobots(robotsFor))) return;
    const isAllowed = ({ path }: CensusResource) => (this.#allowed ?? allowed)[path] ?? true;
    for (const resource of resources.filter(isAllowed)) {
      const isAdmitted = await this.#admit();
      if (!isAdmitted && this.#signs.length === 0 && !isReading) throw new NoPlace();
      if (!isAdmitted || (await this.#askResource(resource))) return;
    }
  }

  answer(): Omit<ListedAnswer, 'handshakeMs'> {
    return { signs: this.#signs, allowed: this.#allowed, restMs: this.#restMs };
  }

  /** Resolves to true if nothing more may be asked today. */
  async #readRobots(paths: ListedQuestion['robotsFor']): Promise<boolean> {
    const { pool } = this.#engine;
    const robots = await this.#client.request({
      ...ROBOTS,
      origin: this.#origin,
      method: 'GET',
      redirects: 'same-origin',
      timeoutMs: TIMEOUT_MS,
    });
    this.#noteRest(robots);
    if (!robots.ok || robots.data.status >= SERVER_ERROR) return false;
    if (robots.data.status === TOO_MANY) return true;
    const work = { pool, account: pool.openScan() };
    const allowed = await readAllowed(robots, { agent: ROBOTS_AGENT, paths }, work);
    // Without a file every path is allowed (RFC 9309, 2.3.1.3).
    this.#allowed = Object.fromEntries(paths.map((path, at) => [path, allowed?.[at] ?? true]));
    return false;
  }

  /** Resolves to true if nothing more may be asked today. */
  async #askResource(resource: CensusResource): Promise<boolean> {
    const redirects = 'same-origin';
    const { observation, preflight } = await askOne(
      this.#client,
      this.#origin,
      resource,
      this.#engine,
      { redirects },
    );
    if (observation === null) return false;
    this.#noteRest(observation);
    const status = observation.ok ? observation.data.status : null;
    const reason = observation.ok ? null : observation.reason;
    this.#signs.push({ status, reason, payableBy: preflight.terms?.payableBy ?? null });
    return status === TOO_MANY;
  }

  #noteRest(observation: HttpObservation): void {
    if (!observation.ok || !BUSY.has(observation.data.status)) return;
    const restMs = retryAfterMs(observation.data, Date.now());
    if (restMs !== null) this.#restMs = Math.max(this.#restMs ?? 0, restMs);
  }
}
