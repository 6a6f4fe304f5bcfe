import type { Lookup } from '../model/observations.ts';
import { notEvaluated, notSeen, type Verdict } from '../model/verdict.ts';
import type { OpenApiReading } from '../parse/kit/find-openapi.ts';

const HOUR_SEC = 3_600;
const OPENAPI_FIX = 'Serve the OpenAPI document as JSON at /openapi.json.';
const CHALLENGE_FIX = 'Correct what P2 names first.';

/** A third party that was not asked, or failed to answer, is no fault of the origin. */
export function unanswered(
  lookup: Exclude<Lookup<unknown>, { state: 'seen' }>,
  what: string,
  fix: string,
): Verdict<'offline' | 'unseen'> {
  if (lookup.state === 'off') {
    return notSeen('offline', `${what}: not asked, ${lookup.why} (0 requests)`, fix);
  }
  return notSeen('unseen', `${lookup.source}: ${lookup.detail} (0 good answers)`, fix);
}

/** "as of 2026-08-14T12:00:00.000Z (3 h old)" */
export function askedAt({ asOf, ageSec }: { readonly asOf: string; readonly ageSec: number }) {
  return `as of ${asOf} (${Math.floor(ageSec / HOUR_SEC)} h old)`;
}

/** Checks that read the OpenAPI document cannot judge without one; S1 reports why it is missing. */
export function needsOpenApi(
  reading: Exclude<OpenApiReading, { state: 'found' }>,
): Verdict<'prerequisite-failed'> {
  const what = reading.state === 'yaml' ? `${reading.path} is YAML` : reading.evidence;
  return notEvaluated('S1', what, OPENAPI_FIX);
}

/** P2 did not fail, yet no challenge was seen: seeing one takes a request that the scan may not send. */
export function unchallenged(probed: number): Verdict<'unseen'> {
  const evidence = `0 of ${probed} resources challenged by what we may send`;
  return notSeen('unseen', evidence, CHALLENGE_FIX);
}

/** The probe plan exceeded its limits of time or memory. */
export function unplanned(planFailure: string): Verdict<'limits'> {
  return {
    status: 'fail',
    basis: 'measured',
    outcome: 'limits',
    evidence: `no plan: ${planFailure}`,
    fix: 'Serve smaller and less deeply nested documents.',
  };
}
