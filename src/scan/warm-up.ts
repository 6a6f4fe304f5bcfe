/** Loads every check and parser on the workers before the first scan, which would pay for it in time. */
import { EngineFault } from '../engine/errors.ts';
import type { HttpObservation, Observations } from '../model/observations.ts';
import { payeesOf, planFrom } from './observe.ts';
import { judge, type ScannerOptions } from './run-scan.ts';

export const SILENT: HttpObservation = {
  ok: false,
  reason: 'refused',
  detail: 'nobody was asked',
  ms: 0,
};
const OFF = { state: 'off', why: 'offline' } as const;

/** An origin that nobody asked: all that a check may need is there, and says nothing. */
export const NOBODY: Observations = {
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
  payability: null,
  x402scan: OFF,
  settlements: OFF,
  listing: OFF,
};

/**
 * Loads every check and parser on the workers, and measures how fast they are. Rejects where one of
 * ours breaks on nothing at all, so that it is known before anybody pays.
 */
export async function warmUp({
  catalog,
  checks,
  pool,
}: Pick<ScannerOptions, 'catalog' | 'checks' | 'pool'>): Promise<void> {
  const { threads } = pool.load();
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const work = { pool, account: pool.openScan('replay') };
      const [{ report }, { planFailure }] = await Promise.all([
        judge(NOBODY, new Date(0).toISOString(), { catalog, checks, pool }),
        planFrom(NOBODY, true, work),
        payeesOf(NOBODY.resources, work),
      ]);
      const broken = report.results.filter(
        ({ outcome }) => outcome === 'fault' || outcome === 'limits',
      );
      if (broken.length > 0 || planFailure !== undefined) {
        const names = broken.length > 0 ? broken.map(({ id }) => id).join(', ') : 'the plan';
        throw new EngineFault(`${names} cannot judge even an origin that said nothing.`);
      }
    }),
  );
  await pool.calibrate();
}
