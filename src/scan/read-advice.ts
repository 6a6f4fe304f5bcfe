/** Reads advice on a worker; an origin that exceeds the limits gets none. */
import { selectObservations } from '../engine/select-observations.ts';
import type { Advice } from '../model/advice.ts';
import type { Observations } from '../model/observations.ts';
import { type ScanWork, type WorkModule, workOn } from './origin-work.ts';

const ADVICE_MODULE: WorkModule<typeof import('../payable/advise.ts')> = new URL(
  '../payable/advise.ts',
  import.meta.url,
);

export async function readAdvice(seen: Observations, work: ScanWork): Promise<readonly Advice[]> {
  const advised = selectObservations(seen, ['origin', 'resources', 'browser', 'chain']);
  const worked = await workOn(work, 'origin', ADVICE_MODULE, 'advise', advised);
  return worked.ok ? worked.output : [];
}
