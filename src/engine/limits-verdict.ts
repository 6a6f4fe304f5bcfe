/** The finding where a check ran out of limits: or a seller could dodge grading by hanging one. */

import { fail, type Verdict } from '../model/verdict.ts';
import type { Limit } from './errors.ts';
import type { PackedObservation } from './pool/job.ts';
import { textBytes } from './pool/transfer.ts';

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
  return fail(
    'limits',
    `Could not be evaluated within limits: twice too much ${LIMITS[limit]} for ${read.join(', ')}`,
    'Serve smaller and less deeply nested documents.',
  );
}
