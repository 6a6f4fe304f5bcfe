/** Reads advice and other ways to pay on a worker; an origin that exceeds the limits gets none. */

import type { Remarks } from '../buyers/advise.ts';
import { selectObservations } from '../engine/judging-pool.ts';
import type { Observations } from '../model/observations.ts';
import { type ScanWork, type WorkModule, workOn } from './origin-work.ts';

const REMARK_MODULE: WorkModule<typeof import('../buyers/advise.ts')> = new URL(
  '../buyers/advise.ts',
  import.meta.url,
);
const NONE: Remarks = { advice: [], otherWays: [] };

export async function readRemarks(seen: Observations, work: ScanWork): Promise<Remarks> {
  const selected = selectObservations(seen, ['origin', 'resources', 'browser', 'chain']);
  const worked = await workOn(work, 'origin', REMARK_MODULE, 'remark', selected);
  return worked.ok ? worked.output : NONE;
}
