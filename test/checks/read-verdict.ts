/** Reads the verdict of a case, and refuses one that breaks the common rules of checks. */
import { cleanVerdict } from '../../src/scanner/engine/on-thread.ts';
import {
  type Basis,
  ENGINE_OUTCOMES,
  type Status,
  type Verdict,
} from '../../src/scanner/model/verdict.ts';

/** Statuses allowed for each basis (checks.md, "Common rules"). */
const ALLOWED_STATUSES: Readonly<Record<Basis, readonly Status[]>> = {
  measured: ['pass', 'warn', 'fail'],
  not_applicable: ['pass'],
  not_determined: ['warn'],
  not_evaluated: ['fail'],
};

/** Returns the verdict as a scan cleans it. Throws TypeError if the verdict breaks a common rule of checks. */
export function readVerdict(raw: unknown, outcomes: readonly string[]): Verdict {
  if (typeof raw !== 'object' || raw === null) throw new TypeError('The verdict is not an object.');
  if ('then' in raw) throw new TypeError('The verdict is a promise: evaluate must be synchronous.');
  const { status, basis, outcome, evidence, fix }: Partial<Record<keyof Verdict, unknown>> = raw;

  if (!isBasis(basis)) throw new TypeError(`Unknown basis ${JSON.stringify(basis)}.`);
  const allowedStatus = ALLOWED_STATUSES[basis].find((allowed) => allowed === status);
  if (!allowedStatus) throw new TypeError(`Status ${JSON.stringify(status)} with basis ${basis}.`);
  if (typeof outcome !== 'string' || !isListed(outcome, outcomes)) {
    throw new TypeError(`Outcome ${JSON.stringify(outcome)} is not in the check's list.`);
  }
  if (typeof evidence !== 'string') throw new TypeError(`Outcome ${outcome} without evidence.`);
  if (typeof fix !== 'string' || fix.trim() === '' || /[\r\n]/.test(fix)) {
    throw new TypeError(`Outcome ${outcome}: the fix must be one line.`);
  }
  const verdict = cleanVerdict({ status: allowedStatus, basis, outcome, evidence, fix });
  if (verdict.evidence === '') throw new TypeError(`Outcome ${outcome} without evidence.`);
  if (basis === 'not_applicable' && !verdict.evidence.startsWith('Not applicable:')) {
    throw new TypeError(`Outcome ${outcome}: evidence must start with "Not applicable:".`);
  }
  return verdict;
}

function isBasis(value: unknown): value is Basis {
  return typeof value === 'string' && Object.hasOwn(ALLOWED_STATUSES, value);
}

function isListed(outcome: string, outcomes: readonly string[]): boolean {
  return outcomes.includes(outcome) || ENGINE_OUTCOMES.some((shared) => shared === outcome);
}
