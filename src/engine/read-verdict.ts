import { type Basis, ENGINE_OUTCOMES, type Status, type Verdict } from '../model/verdict.ts';
import { cleanText } from '../parse/text/text.ts';

/** Limit of security.md, "Hostile origins". */
export const MAX_EVIDENCE_CHARS = 500;

/** Statuses allowed for each basis (checks.md, "Common rules"). */
const STATUSES: Readonly<Record<Basis, readonly Status[]>> = {
  measured: ['pass', 'warn', 'fail'],
  not_applicable: ['pass'],
  not_determined: ['warn'],
  not_evaluated: ['fail'],
};

/** Throws TypeError with the breach, a defect of the check; returns cleaned and cut evidence. */
export function readVerdict(raw: unknown, outcomes: readonly string[]): Verdict {
  if (typeof raw !== 'object' || raw === null) throw new TypeError('The verdict is no object.');
  if ('then' in raw) throw new TypeError('The verdict is a promise: evaluate must be synchronous.');
  const { status, basis, outcome, evidence, fix }: Partial<Record<keyof Verdict, unknown>> = raw;

  if (!isBasis(basis)) throw new TypeError(`Unknown basis ${JSON.stringify(basis)}.`);
  const allowed = STATUSES[basis].find((one) => one === status);
  if (!allowed) throw new TypeError(`Status ${JSON.stringify(status)} with basis ${basis}.`);
  if (typeof outcome !== 'string' || !isListed(outcome, outcomes)) {
    throw new TypeError(`Outcome ${JSON.stringify(outcome)} is not in the check's list.`);
  }
  const text = typeof evidence === 'string' ? cleanText(evidence, MAX_EVIDENCE_CHARS) : '';
  if (text === '') throw new TypeError(`Outcome ${outcome} without evidence.`);
  if (basis === 'not_applicable' && !text.startsWith('Not applicable:')) {
    throw new TypeError(`Outcome ${outcome}: evidence must start with "Not applicable:".`);
  }
  if (typeof fix !== 'string' || fix.trim() === '' || /[\r\n]/.test(fix)) {
    throw new TypeError(`Outcome ${outcome}: the fix must be one line.`);
  }
  return { status: allowed, basis, outcome, evidence: text, fix };
}

function isBasis(value: unknown): value is Basis {
  return typeof value === 'string' && Object.hasOwn(STATUSES, value);
}

function isListed(outcome: string, outcomes: readonly string[]): boolean {
  return outcomes.includes(outcome) || ENGINE_OUTCOMES.some((one) => one === outcome);
}
