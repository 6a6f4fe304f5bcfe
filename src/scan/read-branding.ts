/** Reads branding on a worker; an origin that exceeds the limits is shown by its host. */
import { selectObservations } from '../engine/judging-pool.ts';
import type { Observations } from '../model/observations.ts';
import type { Branding } from '../model/report.ts';
import { type ScanWork, type WorkModule, workOn } from './origin-work.ts';
import { plainBranding } from './plain-branding.ts';

const BRANDING_MODULE: WorkModule<typeof import('./branding.ts')> = new URL(
  './branding.ts',
  import.meta.url,
);
const SURFACES = [
  'origin',
  'root',
  'soft404',
  'openapi',
  'openapiAlternates',
  'manifest',
  'manifestJson',
  'agentCard',
  'icons',
] as const;

export type BrandedSurfaces = Pick<Observations, (typeof SURFACES)[number]>;

export async function readBranding(seen: Observations, work: ScanWork): Promise<Branding> {
  const surfaces = selectObservations(seen, SURFACES);
  const worked = await workOn(work, 'origin', BRANDING_MODULE, 'extractBranding', surfaces);
  return worked.ok ? worked.output : plainBranding(seen.origin.host);
}
