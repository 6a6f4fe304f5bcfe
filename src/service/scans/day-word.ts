/** Finds the word that sums up an origin's day, such as `payable`, from its resources' answers. */

import type { FailureReason } from '../../scanner/model/observation.ts';
import type {
  HttpObservation,
  Observations,
  ResourceObservation,
} from '../../scanner/model/observations.ts';
import type { DayWord, PayableBy } from '../../scanner/model/payability.ts';
import { hasAnswered, hasOnly429 } from './finished-scan.ts';

/** The facts of a resource's answer to an unpaid request that decide the word of the day. */
export type ResourceSign = {
  /** Null if there was no answer. */
  readonly status: number | null;
  /** Reason why there was no answer. */
  readonly reason: FailureReason | null;
  /** Null if the answer is not a challenge, or no client could read it. */
  readonly payableBy: PayableBy | null;
};

/** Reasons that come from our own limits, so they say nothing about an origin. */
const OUR_LIMITS: ReadonlySet<FailureReason> = new Set(['budget', 'rate-limited', 'not-sent']);
/** Redirects that buyers cannot follow to the listed resource. */
const FAILED_REDIRECTS: ReadonlySet<FailureReason> = new Set(['redirect-loop', 'redirect-refused']);
const PAYMENT_REQUIRED = 402;
const SERVER_ERROR = 500;
/** Statuses of a path that sells nothing. */
export const NOT_SOLD_STATUSES: ReadonlySet<number> = new Set([404, 405, 410]);

/** `payable` if default clients sign for one resource; `down` only if every resource is silent or broken. */
export function toDayWord(signs: readonly ResourceSign[]): DayWord {
  const words = signs.map(toResourceWord);
  if (words.includes('payable')) return 'payable';
  if (words.length > 0 && words.every((word) => word === 'down')) return 'down';
  return words.includes('not_payable') ? 'not_payable' : 'not_checked';
}

function toResourceWord({ status, reason, payableBy }: ResourceSign): DayWord {
  if (payableBy !== null) return toChallengeWord(payableBy);
  if (status === null) {
    if (reason === null || OUR_LIMITS.has(reason)) return 'not_checked';
    return FAILED_REDIRECTS.has(reason) ? 'not_payable' : 'down';
  }
  if (status >= SERVER_ERROR) return 'down';
  // A 402 without `payableBy` has no challenge that a client could read, so nobody can pay it.
  const isConclusive = status < 400 || status === PAYMENT_REQUIRED || NOT_SOLD_STATUSES.has(status);
  return isConclusive ? 'not_payable' : 'not_checked';
}

function toChallengeWord(payableBy: PayableBy): DayWord {
  if (payableBy === 'default') return 'payable';
  return payableBy === 'unknown' ? 'not_checked' : 'not_payable';
}

/** An origin is `not_payable` if it answers but sells nothing that a scan can find. */
export function toScanDayWord(observations: Observations): DayWord {
  if (!hasAnswered(observations)) return 'down';
  const signs = observations.resources.probed
    .filter(({ declaredPaid, probes }) => declaredPaid || probes.some(isPaymentRequired))
    .map((resource) => toResourceSign(resource, observations));
  if (signs.length > 0) return toDayWord(signs);
  const { root, resources } = observations;
  // A document that was not read may name what is sold.
  if (resources.unread !== undefined || resources.notKnown !== undefined) return 'not_checked';
  return root.ok && !hasOnly429(observations) ? toDayWord([toSign(root)]) : 'not_checked';
}

const NOT_ASKED: ResourceSign = { status: null, reason: null, payableBy: null };

function toResourceSign(resource: ResourceObservation, { payability }: Observations): ResourceSign {
  const judged = payability?.resources.find(
    ({ method, path }) => path === resource.path && method === (resource.method ?? method),
  );
  if (judged) return { status: PAYMENT_REQUIRED, reason: null, payableBy: judged.payableBy };
  const { method, probes } = resource;
  const sameMethod = probes.filter((probe) => probe.method === (method ?? 'GET'));
  const [first] = sameMethod.length > 0 ? sameMethod : probes;
  return first === undefined ? NOT_ASKED : toSign(first.answer);
}

export function toSign(
  answer: HttpObservation,
  payableBy: ResourceSign['payableBy'] = null,
): ResourceSign {
  return answer.ok
    ? { status: answer.data.status, reason: null, payableBy }
    : { status: null, reason: answer.reason, payableBy };
}

function isPaymentRequired({ answer }: ResourceObservation['probes'][number]): boolean {
  return answer.ok && answer.data.status === PAYMENT_REQUIRED;
}
