import { loadCatalog } from '../engine/catalog/catalog.ts';
import { discoverChecks } from '../engine/catalog/discover-checks.ts';
import { BrokenChecks } from '../engine/errors.ts';
import { createPool } from '../engine/judging-pool.ts';
import { tryAll } from '../scan/warm-up.ts';
import type { SelfTest, SelfTestResult } from './self-test.ts';

/** Generous limits: the input is ours, and the machine may be slow. */
const PATIENT = { cpuMs: 20_000, firstTryMs: 20_000, wallMs: 60_000 };

async function test({ checksVersion, modules }: SelfTest): Promise<SelfTestResult> {
  const urls = new Map(modules);
  const pool = createPool({ ...PATIENT, threads: 1 });
  try {
    const found = await discoverChecks();
    const catalog = await loadCatalog(checksVersion, { checks: found });
    const checks = found.map((check) => ({ ...check, url: urls.get(check.impl) ?? check.url }));
    await tryAll({ catalog, checks, pool });
    return { kind: 'whole', message: '' };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: error instanceof BrokenChecks ? 'broken' : 'failed', message };
  } finally {
    await pool.close();
  }
}

// The service has ended, so nobody waits for the result.
process.once('disconnect', () => process.exit(0));
process.once('message', async (order) => {
  const result = await test(order as SelfTest); // the service sends nothing else
  process.send?.(result, () => process.disconnect());
});
