import type { Catalog } from '../../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../engine/catalog/discover-checks.ts';
import type { Sentences } from '../../engine/define-check.ts';
import { isUnjudged, SCORINGS, type ScoreCost, scoreCosts } from '../../engine/score.ts';
import type { CheckResult, ScanReport } from '../../model/report.ts';
import { groupByRootCause } from '../../model/verdict.ts';
import { formatUnevaluated, toPhrase } from '../../report/check-phrases.ts';
import { cutText } from './page-text.ts';

/** For each check id, the sentences for a check that passes, fails, or is not judged. */
export type SentencesById = ReadonlyMap<string, Sentences>;

/** Takes the sentences from the check versions that the catalog runs. */
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

const SEVERITY_RANKS = { critical: 0, major: 1, minor: 2 } as const;
const MAX_FIRST_FINDINGS = 3;
/** Limits of escaped markup. The API's report has the whole text. */
const MAX_EVIDENCE_BYTES = 320;
const MAX_BRIEF_EVIDENCE_BYTES = 80;

type ReportResults = Pick<ScanReport, 'results' | 'payableBy' | 'payability'>;
type FindingRow = ReturnType<typeof toRow>;
export type PageFinding = FindingRow & {
  /** Checks that could not be judged because of this finding. */
  readonly consequences: readonly FindingRow[];
  /** Points of the score that this finding and its consequences cost together. */
  readonly cost: number;
};

/** Sorts the results into the lists of the page. `first` has the costliest findings of all categories. */
export function toReportFindings(
  report: ReportResults,
  catalog: Catalog,
  says: SentencesById,
  isBrief = false,
) {
  const maxBytes = isBrief ? MAX_BRIEF_EVIDENCE_BYTES : MAX_EVIDENCE_BYTES;
  const payment = { ...report, isUnjudged: isUnjudged(report) };
  const costs = scoreCosts(report.results, SCORINGS[catalog.scoring], payment);
  const pointsById = new Map(costs.map((cost) => [cost.id, cost.points]));
  const groupsByCause = groupByRootCause(report.results);
  const causeById = new Map(
    [...groupsByCause].flatMap(([cause, group]) => group.map(({ id }) => [id, cause] as const)),
  );
  const rows = report.results.map((result) => {
    const cause = causeById.get(result.id) ?? null;
    return toRow(result, { points: pointsById.get(result.id) ?? 0, cause, says, maxBytes });
  });
  const listedCauses = new Set(
    rows.filter((row) => isOwnFinding(row) && row.status !== 'pass').map(({ id }) => id),
  );
  // A consequence is listed under its cause, or by itself if the cause is not listed.
  const consequences = rows.filter(({ cause }) => cause !== null && listedCauses.has(cause));
  const listedRows = rows.filter(
    (row) => isOwnFinding(row) || (row.cause !== null && !consequences.includes(row)),
  );
  const problems = listedRows.filter(({ status }) => status !== 'pass').map(withConsequences);
  const first = findCostliest(problems, costs);
  const categories = catalog.categories.map(({ key, label }) => {
    const isInCategory = ({ category }: FindingRow) => category === key;
    const otherProblems = problems.filter((row) => isInCategory(row) && !first.includes(row));
    const bySeverity = (a: FindingRow, b: FindingRow) =>
      Number(b.status === 'fail') - Number(a.status === 'fail') ||
      SEVERITY_RANKS[a.severity] - SEVERITY_RANKS[b.severity];
    const passed = listedRows.filter((row) => isInCategory(row) && row.status === 'pass');
    return {
      label,
      key,
      firstIds: first.filter(isInCategory).map(({ id }) => id),
      problems: otherProblems.toSorted(bySeverity),
      passed,
    };
  });
  const undetermined = rows.filter(({ basis }) => basis === 'not_determined');
  const failedIds = rows
    .filter((row) => isOwnFinding(row) && row.status === 'fail')
    .map(({ id }) => id);
  const unevaluated = { count: causeById.size, text: formatUnevaluated(groupsByCause, failedIds) };
  return { first, categories, undetermined, unevaluated, costs };

  function withConsequences(row: FindingRow): PageFinding {
    const ownConsequences = consequences.filter(({ cause }) => cause === row.id);
    const cost = ownConsequences.reduce((sum, { points }) => sum + points, row.points);
    return { ...row, consequences: ownConsequences, cost };
  }
}

/** Finds the findings that cost the most points. Findings of equal cost keep their order in `costs`. */
function findCostliest(
  problems: readonly PageFinding[],
  costs: readonly ScoreCost[],
): readonly PageFinding[] {
  const order = costs.map(({ id }) => id);
  return problems
    .filter(({ cost }) => cost > 0)
    .toSorted((a, b) => b.cost - a.cost || order.indexOf(a.id) - order.indexOf(b.id))
    .slice(0, MAX_FIRST_FINDINGS);
}

type RowOptions = {
  readonly points: number;
  /** Id of the failed check that prevented the evaluation of this check; null if this check was evaluated. */
  readonly cause: string | null;
  readonly says: SentencesById;
  readonly maxBytes: number;
};

function toRow(result: CheckResult, { points, cause, says, maxBytes }: RowOptions) {
  const sentences = says.get(result.id);
  const isUnjudged = result.basis === 'not_determined' || result.basis === 'not_evaluated';
  const judgedSentence = result.status === 'pass' ? sentences?.right : sentences?.wrong;
  const sentence = isUnjudged ? sentences?.unjudged : judgedSentence;
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

/** True for a finding that is neither undetermined nor a consequence of another finding. */
function isOwnFinding({ basis, cause }: FindingRow): boolean {
  return basis !== 'not_determined' && cause === null;
}
