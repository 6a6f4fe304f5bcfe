import { expect, test } from 'vitest';
import { discoverChecks } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import {
  bazaarExtension,
  postChallenge,
  postResource,
  resources,
} from '../../fixtures/observations/build-observations.ts';
import { openPool } from './fixtures/fixture-checks.ts';

/** Thirty levels of two alternatives each give 2^30 ways to fail. */
function createCostlySchema() {
  const levels = Array.from({ length: 30 }, (_, level) => {
    const next = { $ref: `#/$defs/l${level + 1}` };
    return [`l${level}`, { anyOf: [next, next] }] as const;
  });
  return { $ref: '#/$defs/l0', $defs: { ...Object.fromEntries(levels), l30: { type: 'string' } } };
}

test("S5 fails with the outcome `limits` on a seller's schema that takes exponential time", async () => {
  const checks = await discoverChecks(new URL('../../../checks/', import.meta.url));
  const check = checks.find(({ impl }) => impl === 'S5@2');
  if (check === undefined) throw new Error('S5@2 is not there.');
  const bazaar = bazaarExtension({ schema: createCostlySchema() });
  const observations = { resources: resources([postResource(postChallenge(bazaar))]) };
  await using pool = openPool({ cpuMs: 200, wallMs: 50_000, threads: 1 });
  const verdict = await pool.runCheck(check, observations, pool.openScan());
  expect(verdict).toMatchObject({ status: 'fail', basis: 'measured', outcome: 'limits' });
  expect(verdict.evidence).toContain('CPU time');
});
