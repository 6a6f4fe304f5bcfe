/**
 * Verdicts for checks that exceeded their limits or threw. They fail the origin, or a seller could dodge
 * grading by hanging or breaking a check. Data of third parties is exempt, because the origin did not
 * write it: the check is then not determined.
 */

import { STANDING_OBSERVATIONS } from '../model/observations.ts';
import type { Verdict } from '../model/verdict.ts';
import { textBytes } from '../parse/json/transfer.ts';
import type { Limit } from '../workers/errors.ts';
import type { CheckDefinition } from './define-check.ts';
import type { SerializedObservation } from './observation-serializer.ts';

const LIMITS: Readonly<Record<Limit, string>> = {
  time: 'CPU time',
  memory: 'memory',
  stack: 'stack depth',
};
const LIMITS_FIX = 'Serve smaller and less deeply nested documents.';
const FAULT_FIX = 'Report this scan to us, and scan again once we have corrected it.';
const STANDING_FIX = 'Nothing to do here: scan again later.';

/** Returns true for checks that judge third parties' answers. */
export function isStandingCheck({ needs }: Pick<CheckDefinition, 'needs'>): boolean {
  return STANDING_OBSERVATIONS.some((name) => needs.includes(name));
}

export function limitsVerdict(
  limit: Limit | 'budget',
  isStanding: boolean,
  seen: readonly SerializedObservation[],
): Verdict<'limits'> {
  if (limit === 'budget') return budgetVerdict(isStanding);
  const what = `twice too much ${LIMITS[limit]} for ${largestFirst(seen)}`;
  return isStanding ? standingLimits(what) : originLimits(what);
}

/** Verdict of every check in a scan that spent its processor time, whichever check spent it. */
export function budgetVerdict(isStanding: boolean): Verdict<'limits'> {
  if (isStanding) return standingLimits('the answers about this origin took all its time');
  return originLimits('the documents of this origin took all the processor time that a scan has');
}

export function faultVerdict(
  isStanding: boolean,
  seen: readonly SerializedObservation[],
): Verdict<'fault'> {
  const evidence = `Not evaluated, and the fault is ours: this check broke on ${largestFirst(seen)}`;
  if (isStanding) return notDetermined('fault', evidence);
  return { status: 'fail', basis: 'not_evaluated', outcome: 'fault', evidence, fix: FAULT_FIX };
}

function originLimits(what: string): Verdict<'limits'> {
  const evidence = withinLimits(what);
  return { status: 'fail', basis: 'measured', outcome: 'limits', evidence, fix: LIMITS_FIX };
}

function standingLimits(what: string): Verdict<'limits'> {
  return notDetermined('limits', withinLimits(what));
}

function notDetermined<const O extends 'limits' | 'fault'>(
  outcome: O,
  evidence: string,
): Verdict<O> {
  return { status: 'warn', basis: 'not_determined', outcome, evidence, fix: STANDING_FIX };
}

function withinLimits(what: string): string {
  return `Could not be evaluated within limits: ${what}`;
}

function largestFirst(seen: readonly SerializedObservation[]): string {
  return seen
    .map(({ name, value }) => ({ name, bytes: textBytes(value) }))
    .sort((one, other) => other.bytes - one.bytes)
    .map(({ name, bytes }) => `${name} (${bytes} bytes)`)
    .join(', ');
}
