/** The findings of a report page: what is right and wrong in sentences, by category, with its cost. */
import type { Catalog } from '../../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../engine/catalog/discover-checks.ts';
import type { Sentences } from '../../engine/define-check.ts';
import { SCORINGS } from '../../engine/score.ts';
import { scoreCosts } from '../../engine/score-costs.ts';
import type { CheckResult, ScanReport } from '../../model/report.ts';

/** By the id of a check: the rule in two sentences. */
export type SentencesById = ReadonlyMap<string, Sentences>;

/** Rules of the implementations that the catalog runs, because those judged. */
export function sentencesOf(catalog: Catalog, checks: readonly DiscoveredCheck[]): SentencesById {
  const byImpl = new Map(checks.map(({ impl, definition }) => [impl, definition.says]));
  return new Map(
    catalog.checks.flatMap(({ id, impl }) => {
      const says = byImpl.get(impl);
      return says === undefined ? [] : [[id, says]];
    }),
  );
}

const RANK = { critical: 0, major: 1, minor: 2 } as const;

export function reportFindings(report: ScanReport, catalog: Catalog, says: SentencesById) {
  const costs = new Map(
    scoreCosts(report.results, SCORINGS[catalog.scoring], report.payableBy).map(
      ({ id, points }) => [id, points],
    ),
  );
  const rows = report.results.map((result) => rowOf(result, costs.get(result.id) ?? 0, says));
  const categories = catalog.categories.map(({ key, label }) => {
    const own = rows.filter(({ category }) => category === key);
    const by = (status: CheckResult['status']) =>
      own.filter((row) => row.status === status).sort((a, b) => rank(a) - rank(b));
    return { label, problems: [...by('fail'), ...by('warn')], passed: by('pass') };
  });
  return { categories, waterfall: waterfall(report, costs) };
}

function rowOf(result: CheckResult, points: number, says: SentencesById) {
  const sentences = says.get(result.id);
  // An unseen result is neither right nor wrong: the rule is named, and the evidence says why.
  const isOpen = result.basis === 'not_determined';
  const sentence = result.status === 'pass' || isOpen ? sentences?.right : sentences?.wrong;
  return { ...result, points, sentence: sentence ?? result.title, isOpen };
}

/** Sorts by severity; undetermined results come last, because nothing in them can be mended first. */
function rank({ severity, basis }: CheckResult): number {
  return RANK[severity] + (basis === 'not_determined' ? 10 : 0);
}

/** "100 − P3 8 − S5 6 = 86"; findings that cost nothing are left out. */
function waterfall({ score }: ScanReport, costs: ReadonlyMap<string, number>): string {
  const terms = [...costs]
    .filter(([, points]) => points > 0)
    .map(([id, points]) => `${id} ${points}`);
  return terms.length === 0 ? `${score}` : `100 − ${terms.join(' − ')} = ${score}`;
}
