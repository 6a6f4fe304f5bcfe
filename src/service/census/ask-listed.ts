/** Sends the requests of one day to one origin: to robots.txt, and to the resources that indexes list. */
import { OurFault } from '../../scanner/guard/failures.ts';
import type { Origin } from '../../scanner/guard/origin.ts';
import type { HttpObservation } from '../../scanner/model/observations.ts';
import { readRetryAfterMs } from '../../scanner/parse/text/http-header.ts';
import type { PreflightEngine } from '../../scanner/preflight/judge-challenge.ts';
import { isUnavailable, readAllowed } from '../../scanner/scan/census-plan.ts';
import type { AllowedPaths, CensusResource } from '../../scanner/scan/scanner.ts';
import { toSign } from '../scans/day-word.ts';
import { askResource } from '../turns/ask-resources.ts';
import { unlessLimited } from '../turns/in-turn.ts';
import type { TurnClient } from '../turns/origin-turns.ts';
import type { ListedSign } from './resources.ts';

/** The name by which robots.txt addresses the census. */
export const ROBOTS_AGENT = 'x402-conformance-scanner';

export type AskListedRequest = {
  readonly resources: readonly CensusResource[];
  /** The permissions of the robots.txt that was read last; null if none was read in the last 30 days. */
  readonly allowed: AllowedPaths | null;
  /** Paths that are looked up in robots.txt before a resource is asked. For an empty list, robots.txt is not read. */
  readonly robotsPaths: readonly string[];
};

export type AskListedResult = {
  /** One sign for each answer of a resource. The signs decide the word of the day. */
  readonly signs: readonly ListedSign[];
  /** Null if robots.txt was not requested, gave no answer, or answered 5xx. */
  readonly allowed: AllowedPaths | null;
  readonly isRobotsSilent: boolean;
  /** The longest wait that a Retry-After asked for; null without one. After a 429 of robots.txt it is at least 0. */
  readonly restMs: number | null;
};

/**
 * Asks each resource once, until a resource answers 429 or a limit forbids a further request. Throws LimitReached if a
 * limit forbids the first request, and OurFault or another error if the fault is ours.
 */
export type AskListed = (
  origin: Origin,
  request: AskListedRequest,
  client: TurnClient,
) => Promise<AskListedResult>;

const ROBOTS_REQUEST = {
  method: 'GET',
  path: '/robots.txt',
  accept: 'text/plain',
  redirects: 'same-origin',
  capBytes: 512 * 1_024,
  timeoutMs: 10_000,
} as const;
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 503]);
const NO_ADDRESS: AskListedResult = {
  signs: [{ status: null, reason: 'dns', payableBy: null }],
  ...{ allowed: null, isRobotsSilent: false, restMs: null },
};

export function createAskListed(engine: PreflightEngine): AskListed {
  return async (origin, request, client) => {
    const resolved = await client.resolveOrigin(origin);
    if (resolved.kind === 'our-fault') throw new OurFault(resolved.detail);
    return resolved.kind === 'addresses' ? ask(origin, request, { client, engine }) : NO_ADDRESS;
  };
}

async function ask(
  origin: Origin,
  { resources, allowed: allowedBefore, robotsPaths }: AskListedRequest,
  { client, engine }: { readonly client: TurnClient; readonly engine: PreflightEngine },
): Promise<AskListedResult> {
  const signs: ListedSign[] = [];
  const waitsMs: number[] = [];
  let allowed: AllowedPaths | null = null;
  let isRobotsSilent = false;
  const options = { redirects: 'same-origin' } as const;
  if (robotsPaths.length > 0) {
    const robots = await client.request({ ...ROBOTS_REQUEST, origin });
    waitsMs.push(...readWait(robots));
    isRobotsSilent = !robots.ok && isUnavailable(robots);
    if (isRateLimited(robots)) {
      // The origin gets no further request today. `restMs` is not null, which would say that robots.txt was read.
      return { signs, allowed, isRobotsSilent, restMs: Math.max(0, ...waitsMs) };
    }
    const work = { pool: engine.pool, account: engine.pool.openScan() };
    allowed = await readAllowed(robots, ROBOTS_AGENT, robotsPaths, work);
  }
  // Without any answer of robots.txt, complete disallow is assumed (RFC 9309, 2.3.1.4).
  const rules = allowed ?? allowedBefore ?? {};
  for (const resource of resources.filter(({ path }) => rules[path] ?? false)) {
    const asking = askResource(client, origin, resource, engine, options);
    const isFirst = signs.length === 0 && robotsPaths.length === 0;
    const resourceAnswer = await (isFirst ? asking : unlessLimited(asking));
    if (resourceAnswer === null) break;
    const { observation, preflight } = resourceAnswer;
    // The preflight has decided without a request.
    if (observation === null) continue;
    waitsMs.push(...readWait(observation));
    signs.push({ ...toSign(observation, preflight.terms?.payableBy ?? null), resource });
    if (isRateLimited(observation)) break;
  }
  const restMs = waitsMs.length > 0 ? Math.max(...waitsMs) : null;
  return { signs, allowed, isRobotsSilent, restMs };
}

function isRateLimited(observation: HttpObservation): boolean {
  return observation.ok && observation.data.status === 429;
}

/** Returns the Retry-After of a busy server, in a list of at most one element. */
function readWait(observation: HttpObservation): readonly number[] {
  if (!observation.ok || !BUSY_STATUSES.has(observation.data.status)) return [];
  const restMs = readRetryAfterMs(observation.data, Date.now());
  return restMs === null ? [] : [restMs];
}
