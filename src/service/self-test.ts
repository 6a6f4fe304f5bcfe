/** Every check is tried once after the start: what breaks on everything is found before a scan is sold. */
import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import { BrokenChecks } from '../engine/errors.ts';
import { createPool } from '../engine/judging-pool.ts';
import { tryAll } from '../scan/warm-up.ts';

export type SelfTestOptions = {
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  /** A check of ours breaks even on an origin that said nothing: no scan of this process could be sold. */
  readonly onBroken: (fault: BrokenChecks) => void;
  /** The test could not be made; the first scan makes it again. */
  readonly onError: (message: string, error: unknown) => void;
};

/** A machine may be slow, and nothing of an origin is in it. */
const PATIENT = { cpuMs: 20_000, firstTryMs: 20_000, wallMs: 60_000 };

/** On a thread of its own that ends with the test: a service at rest has none. Never rejects. */
export async function testChecks(options: SelfTestOptions): Promise<void> {
  const { catalog, checks, onBroken, onError } = options;
  const pool = createPool({
    ...PATIENT,
    threads: 1,
    onError: (error) => onError('error of a worker', error),
  });
  try {
    await tryAll({ catalog, checks, pool });
  } catch (error) {
    if (error instanceof BrokenChecks) onBroken(error);
    else onError('the checks could not be tried', error);
  } finally {
    await pool.close();
  }
}
