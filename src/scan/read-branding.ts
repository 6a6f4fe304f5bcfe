/** Branding, read on a worker; an origin that cannot be read within limits is shown by its host. */
import type { CheckPool } from '../engine/pool.ts';
import type { Observations } from '../probe/observations.ts';
import { type BrandedSurfaces, plainBranding } from './branding.ts';
import type { Branding } from './scan-outcome.ts';

const BRANDING_MODULE = new URL('./branding.ts', import.meta.url).href;

export async function readBranding(seen: Observations, pool: CheckPool): Promise<Branding> {
  const { origin, root, soft404, openapi, openapiAlternates } = seen;
  const { manifest, manifestJson, agentCard, icons } = seen;
  const input: BrandedSurfaces = {
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
  const task = { module: BRANDING_MODULE, exportName: 'brandingOf', input };
  const done = await pool.run<Branding>(task);
  return done.ok ? done.value : plainBranding(origin.host);
}
