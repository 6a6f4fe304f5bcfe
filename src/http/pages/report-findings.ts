import type { Catalog } from '../../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../engine/catalog/discover-checks.ts';
import type { Sentences } from '../../engine/define-check.ts';
import { SCORINGS } from '../../engine/score.ts';
import { scoreCosts } from '../../engine/score-costs.ts';
import type { CheckResult, ScanReport } from '../../model/report.ts';

/** The rule of each check in three sentences, by id. */
export type SentencesById = ReadonlyMap<string, Sentences>;

/** Sentences of the check versions that the catalog runs. */
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
/** Begins the evidence of a check whose prerequisite failed (`notEvaluated`). */
const FOLLOWS = /^Not evaluated, see ([A-Z]\d+):/;

type Judged = Pick<ScanReport, 'results' | 'payableBy' | 'score'>;

export function reportFindings(report: Judged, catalog: Catalog, says: SentencesById) {
  const costs = new Map(
    scoreCosts(report.results, SCORINGS[catalog.scoring], report.payableBy).map(
      ({ id, points }) => [id, points],
    ),
  );
  const rows = report.results.map((result) => rowOf(result, costs.get(result.id) ?? 0, says));
  const causes = new Set(
    rows.filter((row) => isOwn(row) && row.status !== 'pass').map(({ id }) => id),
  );
  // A consequence is listed beneath its cause, or by itself where the cause is not in the list.
  const following = rows.filter(({ cause }) => cause !== null && causes.has(cause));
  const judged = rows.filter(
    (row) => isOwn(row) || (row.cause !== null && !following.includes(row)),
  );
  const categories = catalog.categories.map(({ key, label }) => {
    const own = judged.filter(({ category }) => category === key);
    const by = (status: CheckResult['status']) =>
      own
        .filter((row) => row.status === status)
        .sort((a, b) => RANK[a.severity] - RANK[b.severity]);
    const problems = [...by('fail'), ...by('warn')].map((row) => ({
      ...row,
      follows: following.filter(({ cause }) => cause === row.id),
    }));
    return { label, problems, passed: by('pass') };
  });
  const undetermined = rows.filter(({ basis }) => basis === 'not_determined');
  return { categories, undetermined, waterfall: waterfall(report, costs) };
}

function rowOf(result: CheckResult, points: number, says: SentencesById) {
  const sentences = says.get(result.id);
  const isUnjudged = result.basis === 'not_determined' || result.basis === 'not_evaluated';
  const judged = result.status === 'pass' ? sentences?.right : sentences?.wrong;
  const sentence = isUnjudged ? sentences?.unjudged : judged;
  const cause = result.basis === 'not_evaluated' ? FOLLOWS.exec(result.evidence)?.[1] : null;
  return {
    ...result,
    points,
    sentence: sentence ?? result.title,
    isUnjudged,
    cause: cause ?? null,
  };
}

/** True for a finding that is neither undetermined nor the consequence of another one. */
function isOwn({ basis, cause }: ReturnType<typeof rowOf>): boolean {
  return basis !== 'not_determined' && cause === null;
}

/** "100 − P3 8 − S5 6 = 86"; findings that cost nothing are left out. */
function waterfall({ score }: Judged, costs: ReadonlyMap<string, number>): string {
  const terms = [...costs]
    .filter(([, points]) => points > 0)
    .map(([id, points]) => `${id} ${points}`);
  return terms.length === 0 ? `${score}` : `100 − ${terms.join(' − ')} = ${score}`;
}
