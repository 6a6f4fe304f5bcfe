/** The word of a day, from what the resources of an origin answered. */
import type { DayWord } from '../model/availability.ts';
import type { FailureReason } from '../model/observation.ts';
import type { HttpObservation, Observations, ResourceObservation } from '../model/observations.ts';
import type { PayableBy } from '../model/payability.ts';
import { metOnly429, wasReached } from './finished-scan.ts';

/** The answer of one resource to an unpaid request. */
export type ResourceSign = {
  /** Null without an answer. */
  readonly status: number | null;
  /** Reason that there was no answer. */
  readonly reason: FailureReason | null;
  /** Null if the answer is not a challenge, or was not judged. */
  readonly payableBy: PayableBy | null;
};

/** Our own limits, and what the guard of a scan did not send, say nothing of an origin. */
const OURS: ReadonlySet<FailureReason> = new Set(['budget', 'rate-limited']);
/** A redirect that is not followed leads buyers away from what is listed. */
const LEADS_AWAY: ReadonlySet<FailureReason> = new Set(['redirect-loop', 'redirect-refused']);
const PAYMENT_REQUIRED = 402;
const SERVER_ERROR = 500;
/** Nothing is sold there, whoever asks. */
const GONE: ReadonlySet<number> = new Set([404, 405, 410]);

/** One resource that default clients sign makes the day payable; only if each is silent or broken is the host down. */
export function dayWord(signs: readonly ResourceSign[]): DayWord {
  const words = signs.map(wordOf);
  if (words.includes('payable')) return 'payable';
  if (words.length > 0 && words.every((word) => word === 'down')) return 'down';
  return words.includes('not_payable') ? 'not_payable' : 'not_checked';
}

function wordOf({ status, reason, payableBy }: ResourceSign): DayWord {
  if (payableBy !== null) return wordOfChallenge(payableBy);
  if (status === null) {
    if (reason === null || OURS.has(reason)) return 'not_checked';
    return LEADS_AWAY.has(reason) ? 'not_payable' : 'down';
  }
  if (status >= SERVER_ERROR) return 'down';
  // A 402 that was judged and is not a challenge of x402 speaks another protocol, or none.
  const isConclusive = status < 400 || status === PAYMENT_REQUIRED || GONE.has(status);
  return isConclusive ? 'not_payable' : 'not_checked';
}

function wordOfChallenge(payableBy: PayableBy): DayWord {
  if (payableBy === 'default') return 'payable';
  return payableBy === 'unknown' ? 'not_checked' : 'not_payable';
}

/** An origin that answers and sells nothing that a scan can find is not payable. */
export function wordOfScan(seen: Observations): DayWord {
  if (!wasReached(seen)) return 'down';
  const signs = seen.resources.probed
    .filter(({ declaredPaid, probes }) => declaredPaid || probes.some(isPaymentRequired))
    .map((resource) => signOf(resource, seen));
  if (signs.length > 0) return dayWord(signs);
  if (metOnly429(seen)) return 'not_checked';
  return seen.root.ok ? dayWord([toSign(seen.root)]) : 'not_checked';
}

function signOf(resource: ResourceObservation, { payability }: Observations): ResourceSign {
  const judged = payability?.resources.find(
    ({ method, path }) => path === resource.path && method === (resource.method ?? method),
  );
  if (judged !== undefined) return { status: PAYMENT_REQUIRED, reason: null, ...judged };
  const { method = null, probes } = resource;
  const own = probes.filter((probe) => probe.method === (method ?? 'GET'));
  const [first] = own.length > 0 ? own : probes;
  return first === undefined ? UNASKED : toSign(first.answer);
}

const UNASKED: ResourceSign = { status: null, reason: null, payableBy: null };

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
