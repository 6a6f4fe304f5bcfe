/** Branding, read on a worker; an origin that cannot be read is shown by its host. */
import type { Observations } from '../model/observations.ts';
import type { Branding } from '../model/scan-outcome.ts';
import { brandingOf, plainBranding } from './branding.ts';
import { type ScanWork, workOn } from './origin-work.ts';

const BRANDING_MODULE = new URL('./branding.ts', import.meta.url);

export async function readBranding(seen: Observations, work: ScanWork): Promise<Branding> {
  const { origin, root, soft404, openapi, openapiAlternates } = seen;
  const { manifest, manifestJson, agentCard, icons } = seen;
  const surfaces = {
    origin,
    root,
    soft404,
    openapi,
    openapiAlternates,
    manifest,
    manifestJson,
    agentCard,
    icons,
  };
  const worked = await workOn(work, 'origin', BRANDING_MODULE, brandingOf, surfaces);
  return worked.ok ? worked.output : plainBranding(origin.host);
}
