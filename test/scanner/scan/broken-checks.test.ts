/** A check that breaks on a good origin is a broken build. One that breaks on an origin's documents is a finding. */
import { afterAll, expect, test } from 'vitest';
import { listCatalogs, loadCatalog } from '../../../src/scanner/engine/catalog/catalog.ts';
import type { Observations } from '../../../src/scanner/model/observations.ts';
import { GOOD_ORIGIN } from '../../../src/scanner/scan/broken-checks.ts';
import { gradeObservations } from '../../../src/scanner/scan/grade-observations.ts';
import { BrokenChecks, EMPTY_OBSERVATIONS } from '../../../src/scanner/scan/scanner.ts';
import { perfectSeller } from '../../fixtures/observations/build-observations.ts';
import { loadEngine } from './engine-under-test.ts';

const { checks, catalog, pool } = await loadEngine();
afterAll(() => pool.close());

/** Judges with a P8 that throws if `condition` holds. */
function gradeWith(condition: string, observations: Observations) {
  const source = `export default { outcomes: [], evaluate(seen) {
    if (${condition}) throw new Error('a defect');
    return { status: 'pass', basis: 'not_applicable', outcome: 'unseen', evidence: 'Not applicable: good', fix: 'None.' };
  } }`;
  const url = `data:text/javascript,${encodeURIComponent(source)}`;
  const changedChecks = checks.map((check) =>
    check.id === 'P8'
      ? {
          ...check,
          url,
          definition: { ...check.definition, needs: ['origin', 'resources'] as const },
        }
      : check,
  );
  const engine = { catalog, checks: changedChecks, pool };
  return gradeObservations(observations, new Date(0).toISOString(), engine);
}

test.each([
  ['every origin', 'true', EMPTY_OBSERVATIONS],
  ['every challenge', 'seen.resources.probed.length > 0', perfectSeller()],
])(
  'with a check that throws on %s, judging rejects and names the check',
  async (_what, condition, seen) => {
    const grading = gradeWith(condition, seen);
    await expect(grading).rejects.toBeInstanceOf(BrokenChecks);
    await expect(grading).rejects.toThrow(/^P8 breaks even on a good origin/);
  },
);

test('a check that throws on the documents of one seller fails that seller, and the build is not broken', async () => {
  const { report } = await gradeWith("seen.origin.host === 'seller.example'", perfectSeller());
  const result = report.results.find(({ id }) => id === 'P8');
  expect(result).toMatchObject({ status: 'fail', basis: 'not_evaluated', outcome: 'fault' });
});

test('every check of every catalog judges the good origin by its answers', async () => {
  for (const version of await listCatalogs()) {
    const engine = { catalog: await loadCatalog(version, { checks }), checks, pool };
    const { report } = await gradeObservations(GOOD_ORIGIN, new Date(0).toISOString(), engine);
    const unjudged = report.results.filter(
      ({ basis, outcome }) => basis === 'not_evaluated' || outcome === 'limits',
    );
    expect(unjudged.map(({ id, evidence }) => `${id}: ${evidence}`)).toEqual([]);
  }
});
