/** Reads routes on a worker; null for an origin that exceeds the limits. */
import { selectObservations } from '../engine/judging-pool.ts';
import type { Observations } from '../model/observations.ts';
import type { RouteFacts } from '../model/report.ts';
import { type ScanWork, type WorkModule, workOn } from './origin-work.ts';

const ROUTES_MODULE: WorkModule<typeof import('./find-routes.ts')> = new URL(
  './find-routes.ts',
  import.meta.url,
);
const SOURCES = [
  'origin',
  'soft404',
  'openapi',
  'openapiAlternates',
  'manifest',
  'manifestJson',
  'resources',
  'x402scan',
] as const;

export type RouteSources = Pick<Observations, (typeof SOURCES)[number]>;

export async function readRoutes(seen: Observations, work: ScanWork): Promise<RouteFacts | null> {
  const sources = selectObservations(seen, SOURCES);
  const worked = await workOn(work, 'origin', ROUTES_MODULE, 'findRoutes', sources);
  return worked.ok ? worked.output : null;
}
