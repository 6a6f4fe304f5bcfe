/** Reads routes on a worker; null for an origin that exceeds the limits. */
import type { Observations } from '../model/observations.ts';
import type { RouteFacts } from '../model/routes.ts';
import { type ScanWork, type WorkModule, workOn } from './origin-work.ts';

const ROUTES_MODULE: WorkModule<typeof import('./find-routes.ts')> = new URL(
  './find-routes.ts',
  import.meta.url,
);

export async function readRoutes(seen: Observations, work: ScanWork): Promise<RouteFacts | null> {
  const { origin, soft404, openapi, openapiAlternates } = seen;
  const { manifest, manifestJson, resources, x402scan } = seen;
  const documents = { origin, soft404, openapi, openapiAlternates, manifest, manifestJson };
  const worked = await workOn(work, 'origin', ROUTES_MODULE, 'findRoutes', {
    ...documents,
    resources,
    x402scan,
  });
  return worked.ok ? worked.output : null;
}
