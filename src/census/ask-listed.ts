/** The requests of one day to one origin. */
import { ResolverDown } from '../guard/failures.ts';
import type { Origin } from '../guard/origin.ts';
import type { AdmitAddresses } from '../limits/origin-turns.ts';
import { askOne, TOO_MANY } from '../looks/ask-resources.ts';
import { NoPlace } from '../looks/in-turn.ts';
import type { HttpObservation } from '../model/observations.ts';
import { retryAfterMs } from '../parse/text/http-header.ts';
import type { PreflightEngine } from '../preflight/judge-challenge.ts';
import type { CreateProbeClient, ProbeClient, ProbeClientOptions } from '../probe/client/client.ts';
import { readAllowed } from '../scan/census-plan.ts';
import { type ResourceSign, toSign } from '../scan/day-word.ts';
import type { CensusResource } from '../scan/scanner.ts';

/** The name by which robots.txt addresses the census. */
export const ROBOTS_AGENT = 'x402-conformance-scanner';

/** By path: true if robots.txt allows it. */
export type AllowedPaths = Readonly<Record<string, boolean>>;

export type ListedQuestion = {
  readonly resources: readonly CensusResource[];
  /** The verdicts of an earlier robots.txt. */
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

const ROBOTS = {
  method: 'GET',
  path: '/robots.txt',
  accept: 'text/plain',
  redirects: 'same-origin',
  capBytes: 512 * 1_024,
  timeoutMs: 10_000,
} as const;
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
      if (resolved.kind === 'our-fault') throw new ResolverDown(resolved.detail);
      if (resolved.kind !== 'addresses') return { ...NOT_ASKED, signs: [NO_ADDRESS] };
      const { addresses } = resolved;
      const answer = await ask(origin, question, { client, engine, admit: () => admit(addresses) });
      return { ...answer, handshakeMs: client.stats().handshakeMs };
    } finally {
      client.close();
    }
  };
}

const NOT_ASKED: ListedAnswer = { signs: [], allowed: null, restMs: null, handshakeMs: 0 };

type Asking = {
  readonly client: ProbeClient;
  readonly engine: PreflightEngine;
  readonly admit: () => Promise<boolean>;
};

async function ask(
  origin: Origin,
  { resources, allowed: known, robotsFor }: ListedQuestion,
  { client, engine, admit }: Asking,
): Promise<Omit<ListedAnswer, 'handshakeMs'>> {
  const signs: ResourceSign[] = [];
  const rests: number[] = [];
  let allowed: AllowedPaths | null = null;
  if (robotsFor.length > 0) {
    if (!(await admit())) throw new NoPlace();
    const robots = await client.request({ ...ROBOTS, origin });
    rests.push(...restOf(robots));
    // Nothing more is asked today, be it by a scan.
    if (isTooMany(robots)) return { signs, allowed, restMs: longest([0, ...rests]) };
    allowed = await readRobots(robots, robotsFor, engine);
  }
  for (const resource of resources.filter(({ path }) => (allowed ?? known)[path] ?? true)) {
    const isAdmitted = await admit();
    if (!isAdmitted && signs.length === 0 && robotsFor.length === 0) throw new NoPlace();
    if (!isAdmitted) break;
    const asked = await askOne(client, origin, resource, engine, { redirects: 'same-origin' });
    const { observation } = asked;
    if (observation === null) continue;
    rests.push(...restOf(observation));
    signs.push(toSign(observation, asked.preflight.terms?.payableBy ?? null));
    if (isTooMany(observation)) break;
  }
  return { signs, allowed, restMs: longest(rests) };
}

/** Null if the server did not answer. Without a file every path is allowed (RFC 9309, 2.3.1.3). */
async function readRobots(
  robots: HttpObservation,
  paths: readonly string[],
  { pool }: PreflightEngine,
): Promise<AllowedPaths | null> {
  if (!robots.ok || robots.data.status >= SERVER_ERROR) return null;
  const work = { pool, account: pool.openScan() };
  const allowed = await readAllowed(robots, { agent: ROBOTS_AGENT, paths }, work);
  return Object.fromEntries(paths.map((path, at) => [path, allowed?.[at] ?? true]));
}

function isTooMany(observation: HttpObservation): boolean {
  return observation.ok && observation.data.status === TOO_MANY;
}

function longest(rests: readonly number[]): number | null {
  return rests.length > 0 ? Math.max(...rests) : null;
}

/** The wait that a busy server asks for. */
function restOf(observation: HttpObservation): readonly number[] {
  if (!observation.ok || !BUSY.has(observation.data.status)) return [];
  const restMs = retryAfterMs(observation.data, Date.now());
  return restMs === null ? [] : [restMs];
}
