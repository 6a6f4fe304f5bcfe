/** Branding, read on a worker; an origin that cannot be read within limits is shown by its host. */
import type { Pool } from '../engine/pool/pool.ts';
import type { Observations } from '../model/observations.ts';
import type { Branding } from '../model/scan-outcome.ts';
import { brandingOf, plainBranding } from './branding.ts';
import { workOn } from './origin-work.ts';

const BRANDING_MODULE = new URL('./branding.ts', import.meta.url);

export async function readBranding(seen: Observations, pool: Pool): Promise<Branding> {
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
  const read = await workOn(pool, BRANDING_MODULE, brandingOf, surfaces);
  return read ?? plainBranding(origin.host);
}
