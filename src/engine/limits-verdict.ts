/** The finding where a check ran out of limits: or a seller could dodge grading by hanging one. */

import type { Verdict } from '../model/verdict.ts';
import type { Limit } from './errors.ts';
import type { PackedObservation } from './pool/job.ts';
import { textBytes } from './pool/transfer.ts';

export const LIMITS_FIX = 'Serve smaller and less deeply nested documents.';

const LIMITS: Readonly<Record<Limit, string>> = {
  time: 'CPU time',
  memory: 'memory',
  stack: 'stack depth',
};

export function limitsVerdict(limit: Limit, seen: readonly PackedObservation[]): Verdict<'limits'> {
  const read = seen
    .map(({ name, value }) => ({ name, bytes: textBytes(value) }))
    .sort((one, other) => other.bytes - one.bytes)
    .map(({ name, bytes }) => `${name} (${bytes} bytes)`);
  return {
    status: 'fail',
    basis: 'measured',
    outcome: 'limits',
    evidence: `Could not be evaluated within limits: twice too much ${LIMITS[limit]} for ${read.join(', ')}`,
    fix: LIMITS_FIX,
  };
}
