import type { Catalog } from '../../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../engine/catalog/discover-checks.ts';
import type { Sentences } from '../../engine/define-check.ts';
import { SCORINGS, type ScoreCost, scoreCosts } from '../../engine/score.ts';
import type { CheckResult, ScanReport } from '../../model/report.ts';
import { byRootCause } from '../../model/verdict.ts';
import { toPhrase, unevaluatedText } from '../../words/check-phrases.ts';
import { cutText } from './page-text.ts';

/** The rule of each check in three sentences, by id. */
export type SentencesById = ReadonlyMap<string, Sentences>;

/** Sentences of the check versions that the catalog runs. */
export function toSentencesById(
  catalog: Catalog,
  checks: readonly DiscoveredCheck[],
): SentencesById {
  const byImpl = new Map(checks.map(({ impl, definition }) => [impl, definition.says]));
  return new Map(
    catalog.checks.flatMap(({ id, impl }) => {
      const says = byImpl.get(impl);
      return says === undefined ? [] : [[id, says]];
    }),
  );
}

const RANK = { critical: 0, major: 1, minor: 2 } as const;
const MAX_FIRST = 3;
/** In bytes of escaped markup; the report of the API has the whole text. */
const MAX_EVIDENCE = 320;
const MAX_EVIDENCE_BRIEF = 80;

type ReportResults = Pick<ScanReport, 'results' | 'payableBy'>;
type Row = ReturnType<typeof rowOf>;
export type PageFinding = Row & {
  /** Findings that are not judged because of this one. */
  readonly follows: readonly Row[];
  /** Its own cost and that of what follows from it. */
  readonly cost: number;
};

export function reportFindings(
  report: ReportResults,
  catalog: Catalog,
  says: SentencesById,
  isBrief = false,
) {
  const maxBytes = isBrief ? MAX_EVIDENCE_BRIEF : MAX_EVIDENCE;
  const costs = scoreCosts(report.results, SCORINGS[catalog.scoring], report.payableBy);
  const points = new Map(costs.map((cost) => [cost.id, cost.points]));
  const groups = byRootCause(report.results);
  const causeOf = new Map(
    [...groups].flatMap(([cause, group]) => group.map(({ id }) => [id, cause] as const)),
  );
  const rows = report.results.map((result) => {
    const { id } = result;
    const cause = causeOf.get(id) ?? null;
    return rowOf(result, { points: points.get(id) ?? 0, cause, says, maxBytes });
  });
  const causes = new Set(
    rows.filter((row) => isOwn(row) && row.status !== 'pass').map(({ id }) => id),
  );
  // A consequence is listed beneath its cause, or by itself if the cause is not in the list.
  const following = rows.filter(({ cause }) => cause !== null && causes.has(cause));
  const judged = rows.filter(
    (row) => isOwn(row) || (row.cause !== null && !following.includes(row)),
  );
  const problems = judged.filter(({ status }) => status !== 'pass').map(withConsequences);
  const first = findFirst(problems, costs);
  const categories = catalog.categories.map(({ key, label }) => {
    const inCategory = ({ category }: Row) => category === key;
    const others = problems.filter((one) => inCategory(one) && !first.includes(one));
    const byGravity = (one: Row, other: Row) =>
      Number(other.status === 'fail') - Number(one.status === 'fail') ||
      RANK[one.severity] - RANK[other.severity];
    const passed = judged.filter((one) => inCategory(one) && one.status === 'pass');
    return {
      label,
      key,
      above: first.filter(inCategory).map(({ id }) => id),
      problems: others.toSorted(byGravity),
      passed,
    };
  });
  const undetermined = rows.filter(({ basis }) => basis === 'not_determined');
  const failed = rows.filter((row) => isOwn(row) && row.status === 'fail').map(({ id }) => id);
  const unevaluated = { count: causeOf.size, text: unevaluatedText(groups, failed) };
  return { first, categories, undetermined, unevaluated, costs };

  function withConsequences(row: Row): PageFinding {
    const follows = following.filter(({ cause }) => cause === row.id);
    return { ...row, follows, cost: follows.reduce((sum, one) => sum + one.points, row.points) };
  }
}

/** The findings that cost most, across categories; of equals, the graver one. */
function findFirst(
  problems: readonly PageFinding[],
  costs: readonly ScoreCost[],
): readonly PageFinding[] {
  const order = costs.map(({ id }) => id);
  return problems
    .filter(({ cost }) => cost > 0)
    .toSorted(
      (one, other) => other.cost - one.cost || order.indexOf(one.id) - order.indexOf(other.id),
    )
    .slice(0, MAX_FIRST);
}

type RowOptions = {
  readonly points: number;
  /** The failed check that this one was not evaluated for. */
  readonly cause: string | null;
  readonly says: SentencesById;
  readonly maxBytes: number;
};

function rowOf(result: CheckResult, { points, cause, says, maxBytes }: RowOptions) {
  const sentences = says.get(result.id);
  const isUnjudged = result.basis === 'not_determined' || result.basis === 'not_evaluated';
  const judged = result.status === 'pass' ? sentences?.right : sentences?.wrong;
  const sentence = isUnjudged ? sentences?.unjudged : judged;
  return {
    ...result,
    evidence: cutText(result.evidence, maxBytes),
    phrase: toPhrase(result.title),
    points,
    sentence: sentence ?? '',
    isUnjudged,
    cause,
  };
}

/** True for a finding that is neither undetermined nor the consequence of another one. */
function isOwn({ basis, cause }: Row): boolean {
  return basis !== 'not_determined' && cause === null;
}
