import { type Catalog, TOTAL_CHECKS } from '../../../scanner/engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../../scanner/engine/catalog/discover-checks.ts';
import { GRADES, WEIGHTS } from '../../../scanner/engine/score.ts';
import type { IndexedRow } from '../../../scanner/model/indexed.ts';
import type { Availability, OtherWay } from '../../../scanner/model/payability.ts';
import type { CheckResult, Grade, ScanReport, SubScores } from '../../../scanner/model/report.ts';
import {
  formatIndexedReason,
  formatIndexedState,
  INDEX_NAMES,
  isWorthShowing,
} from '../../../scanner/report/indexed-words.ts';
import { toReportUrl } from '../../directory/project.ts';
import { findGradeRank, type GradeSummary } from '../../directory/published-report.ts';
import type { HistoryRow } from '../../store/directory.ts';
import { describeDays, drawDayStrip } from './day-strip.ts';
import { cutCell, listCopyableRequests, toLocalScan } from './page-text.ts';
import { drawGradeHistogram, type GradeCounts } from './pictures.ts';
import {
  type SentencesById,
  toFirstFixes,
  toPayableSection,
  toReportFindings,
} from './report-sections.ts';
import {
  drawCheckStrip,
  drawScoreHistory,
  drawWaterfall,
  writeWaterfall,
} from './score-pictures.ts';

/** A published scan of the last 24 hours. */
export type DayScan = Pick<ScanReport, 'scannedAt' | 'results'>;

type ReportPageInput = {
  readonly host: string;
  readonly summary: GradeSummary;
  readonly subScores: SubScores | null;
  readonly checksVersion: string | null;
  /** The published report; null if it is older than 24 hours, or if reading it costs money. */
  readonly report: ScanReport | null;
  /** The scans of the last 24 hours, newest first; the scan of `report` is one of them. */
  readonly dayScans: readonly DayScan[];
  /** Oldest first. */
  readonly history: readonly HistoryRow[];
  /** Counts of all listed origins. */
  readonly gradeCounts: GradeCounts;
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly baseUrl: string;
  readonly siteUrl: string;
  /** "$0.05" */
  readonly scanPrice: string;
  readonly reportIsFree: boolean;
  /** The stack that the reader chose for patches; null or an unknown name selects the default stack. */
  readonly stack: string | null;
  /** Null if the census never checked the host, and in revisions that do not show the census. */
  readonly availability: Availability | null;
  /** True if the census of this service made the scan. */
  readonly isOfCensus: boolean;
  readonly nowMs: number;
  /** True if the whole page would be over its size limit. */
  readonly isBrief: boolean;
};

/** Limits keep the page small. The API's report has every row and the whole texts. */
const MAX_ROWS = 6;
const MAX_BRIEF_HISTORY_ROWS = 8;

/** Label, member of the sub-scores, key of the weight, and description. */
const SUB_SCORES = [
  ['Protocol', 'protocol', 'protocol', 'The 402 challenge, price, recipient, HEAD.'],
  ['Docs', 'docs', 'docs', 'OpenAPI, manifest, llms.txt, agent card, robots.'],
  ['Standing', 'standing', 'directory', 'Indexes, settlements, listing.'],
] as const;

/** Browsers colour a meter by these thresholds. */
const MIN_GOOD_SCORE = GRADES[0][1]; // grade A
const MIN_FAIR_SCORE = GRADES[2][1]; // grade C

const GRADE_TEXTS: Readonly<Record<Grade, string>> = {
  A: 'Agents can find, understand and pay it.',
  B: 'Agents can pay it, but something important is wrong.',
  C: 'Agents may be able to pay it, but several things are wrong.',
  D: 'Agents will have problems with it.',
  F: 'Agents cannot rely on paying it.',
};

export function toReportPage(input: ReportPageInput) {
  const { host, summary, report, gradeCounts } = input;
  const { grade } = summary;
  const findings = report === null ? null : toFindingsSection(report, input);
  return {
    title: grade === null ? `${host}: not scanned yet` : `${host}: grade ${grade}`,
    summary: `x402 conformance of ${host}`,
    host,
    grade,
    score: summary.score,
    verdict: grade === null ? '' : GRADE_TEXTS[grade],
    rank: grade === null ? null : findGradeRank(gradeCounts, grade),
    fresh: summary.fresh,
    scannedAt: summary.scannedAt,
    scannedAtText: summary.scannedAt === null ? '' : toMinute(summary.scannedAt),
    checksVersion: input.checksVersion,
    isOfCensus: input.isOfCensus,
    days: toDaysSection(input),
    counts: toCounts(summary, findings),
    subScores: SUB_SCORES.map(([label, key, category, about]) => ({
      label,
      about: `${about} Weight ${WEIGHTS[category]}.`,
      score: input.subScores?.[key] ?? null,
    })),
    meter: { low: MIN_FAIR_SCORE, high: MIN_GOOD_SCORE },
    totalChecks: TOTAL_CHECKS,
    payable: report === null ? null : toPayableSection(report, input.isBrief),
    findings,
    otherWays: toOtherWays(report?.otherWays ?? [], input.isBrief),
    strips: toStrips(input),
    advice: (report?.advice ?? []).map((advice) => ({
      ...advice,
      evidence: cutCell(advice.evidence),
    })),
    indexed: toIndexedRows(report?.indexed ?? []),
    history: toHistorySection(input),
    histogram: grade === null ? null : drawGradeHistogram(gradeCounts, grade),
    requests: [
      ...listCopyableRequests({ ...input, origin: summary.origin }),
      toLocalScan({ origin: summary.origin }),
    ],
    badgeMarkdown: `[![x402 grade](${input.siteUrl}/badge/${encodeURI(host)}.svg)](${toReportUrl(input.siteUrl, host)})`,
  };
}

function toFindingsSection(report: ScanReport, input: ReportPageInput) {
  const { catalog, checks, stack, isBrief } = input;
  const says = toSentencesById(catalog, checks);
  const { first, costs, ...others } = toReportFindings(report, catalog, says, isBrief);
  const waterfall = { score: report.score, grade: report.grade, costs };
  return {
    ...others,
    ...toFirstFixes(report, first, stack, isBrief),
    waterfall: drawWaterfall(waterfall),
    waterfallText: writeWaterfall(waterfall),
  };
}

/** Takes the sentences from the check versions that the catalog runs. */
function toSentencesById(catalog: Catalog, checks: readonly DiscoveredCheck[]): SentencesById {
  const byImpl = new Map(checks.map(({ impl, definition }) => [impl, definition.says]));
  return new Map(
    catalog.checks.flatMap(({ id, impl }) => {
      const says = byImpl.get(impl);
      return says === undefined ? [] : [[id, says]];
    }),
  );
}

/**
 * The API counts a check that is not determined as a warning, and a check that was not evaluated as a failure. The
 * page counts each kind separately, because the scan saw no fault in these checks.
 */
function toCounts(
  { passCount, warnCount, failCount }: GradeSummary,
  findings: ReturnType<typeof toFindingsSection> | null,
) {
  const undetermined = findings?.undetermined.length ?? 0;
  const unevaluated = findings?.unevaluated ?? { count: 0, text: '' };
  return {
    pass: passCount,
    warn: (warnCount ?? 0) - undetermined,
    fail: (failCount ?? 0) - unevaluated.count,
    unevaluated: unevaluated.text,
    undetermined,
  };
}

function toStrips({ dayScans, catalog }: ReportPageInput) {
  const scans = dayScans.map(({ scannedAt, results }) => ({
    time: scannedAt.slice(11, 16),
    results: sortByCatalog(results, catalog),
  }));
  if (scans.length === 0) return [];
  return catalog.categories.map(({ key, label }) => ({
    label,
    picture: drawCheckStrip({ category: key, label }, scans),
  }));
}

/** Sorts results in the order of the catalog, because each column must show one check for all scans. */
function sortByCatalog(
  results: readonly CheckResult[],
  { checks }: Catalog,
): readonly CheckResult[] {
  const byId = new Map(results.map((result) => [result.id, result]));
  return checks.flatMap(({ id }) => byId.get(id) ?? []);
}

function toHistorySection({ history, isBrief }: ReportPageInput) {
  if (history.length < 2) return null;
  const versions = new Set(history.map(({ checksVersion }) => checksVersion));
  const newest = history.toReversed().slice(0, isBrief ? MAX_BRIEF_HISTORY_ROWS : history.length);
  const rows = newest.map(({ scannedAtMs, grade, score, checksVersion }) => {
    const text = toMinute(new Date(scannedAtMs).toISOString());
    return { text, grade, score, checksVersion };
  });
  return { picture: drawScoreHistory(history), rows, hasCatalogChange: versions.size > 1 };
}

function toDaysSection({ availability, nowMs }: ReportPageInput) {
  if (availability === null) return null;
  return { picture: drawDayStrip(availability.days, nowMs), words: describeDays(availability) };
}

function toOtherWays(ways: readonly OtherWay[], isBrief: boolean) {
  const rows = ways.slice(0, isBrief ? 1 : MAX_ROWS);
  return rows.map(({ method, path, protocol, methods }) => ({
    resource: cutCell(`${method} ${path}`),
    protocol,
    methods: cutCell(methods.join(', ')),
  }));
}

function toIndexedRows(rows: readonly IndexedRow[]) {
  if (!isWorthShowing(rows)) return [];
  return rows.slice(0, MAX_ROWS).map((row) => ({
    index: INDEX_NAMES[row.index],
    resource: cutCell(`${row.method} ${row.resource}`),
    words: cutCell(formatIndexedState(row)),
    reasons: row.reasons.map((reason) => {
      const { fault, step } = formatIndexedReason(reason);
      return { fault: cutCell(fault), step };
    }),
  }));
}

/** "2026-09-01 12:00 UTC" */
function toMinute(isoTime: string): string {
  return `${isoTime.slice(0, 10)} ${isoTime.slice(11, 16)} UTC`;
}
