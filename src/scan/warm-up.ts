/** Loads every check and parser on the workers before the first scan, which would pay for it in time. */
import type { HttpObservation, Observations } from '../model/observations.ts';
import { createPlanner } from './planner.ts';
import { judge, type ScannerParts } from './run-scan.ts';

const SILENT: HttpObservation = { ok: false, reason: 'refused', detail: 'nobody was asked', ms: 0 };
const OFF = { state: 'off', why: 'offline' } as const;

/** An origin that nobody asked: all that a check may need is there, and says nothing. */
const NOBODY: Observations = {
  origin: {
    url: 'https://warm-up.invalid',
    scheme: 'https',
    hostname: 'warm-up.invalid',
    port: 443,
    host: 'warm-up.invalid',
  },
  probing: { post: true },
  root: SILENT,
  soft404: SILENT,
  openapi: SILENT,
  openapiAlternates: [],
  manifest: SILENT,
  manifestJson: SILENT,
  llmsTxt: SILENT,
  agentCard: SILENT,
  agentJson: SILENT,
  robots: SILENT,
  resources: { probed: [], declared: 0, otherMethods: 0, looked: [] },
  links: { checked: [], found: 0, otherHosts: 0, documents: 0 },
  icons: { checked: [], otherHosts: [], inline: false },
  x402scan: OFF,
  settlements: OFF,
  listing: OFF,
};

/** Rejects as `judge` does, so that a broken check is known before anybody pays. */
export async function warmUp(
  parts: Pick<ScannerParts, 'catalog' | 'checks' | 'pool'>,
): Promise<void> {
  const { threads } = parts.pool.load();
  const planner = createPlanner(parts.pool);
  await Promise.all(
    Array.from({ length: threads }, async () => {
      await Promise.all([
        judge(NOBODY, new Date(0).toISOString(), parts),
        planner.plan(NOBODY),
        planner.payees(NOBODY.resources),
      ]);
    }),
  );
}
