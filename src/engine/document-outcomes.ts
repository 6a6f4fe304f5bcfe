import type { HttpObservation } from '../model/observations.ts';
import type { Kit } from '../parse/kit/kit.ts';
import type { DocumentReading } from '../parse/kit/read-document.ts';
import { type Found, fail, type Outcome } from './outcomes.ts';

const FIREWALL_FIX =
  'Let callers without a browser through the firewall: it answers them with 403.';

type Absent = Exclude<DocumentReading['state'], 'present'>;

/** Outcomes for a missing document, in the order in which `kit.document` tests them. */
export function documentOutcomes(fix: string): Readonly<Record<Absent, Outcome>> {
  return {
    unreadable: fail(fix),
    absent: fail(fix),
    'soft-404': fail(fix),
    html: fail(fix),
    oversize: fail(fix),
  };
}

/** Finds the reason why a path has no JSON document; null when it has one. */
export function absence(
  path: string,
  answer: HttpObservation,
  soft404: HttpObservation,
  kit: Kit,
): Found<Absent | 'not-json'> | null {
  const reading = kit.document(path, answer, soft404);
  if (reading.state !== 'present') {
    const isRefused = reading.state === 'absent' && reading.status === 403;
    return [reading.state, reading.evidence, isRefused ? FIREWALL_FIX : undefined];
  }
  const json = kit.json(reading.body);
  return json.ok ? null : ['not-json', `GET ${path}: 200, ${json.detail}`];
}
