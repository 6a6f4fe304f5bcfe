/** The view of the report page of one host (interface spec 2.2). */

import { reportUrl } from '../../directory/project.ts';
import { findGradeRank, type GradeSummary } from '../../directory/published-report.ts';
import { type Catalog, TOTAL_CHECKS } from '../../engine/catalog/catalog.ts';
import { GRADES, WEIGHTS } from '../../engine/score.ts';
import type { Availability } from '../../model/availability.ts';
import type { IndexedRow } from '../../model/indexed.ts';
import type { OtherWay } from '../../model/payability.ts';
import type { CheckResult, Grade, ScanReport, SubScores } from '../../model/report.ts';
import type { HistoryRow } from '../../store/directory.ts';
import { INDEX_NAMES, isWorthShowing, reasonWords, stateWords } from '../../words/indexed-words.ts';
import { dayStrip, daysText } from './day-strip.ts';
import { copyableRequests, cutText, localScan } from './page-text.ts';
import { fixFirst } from './patch-blocks.ts';
import { payableSection } from './payable-section.ts';
import { type GradeCounts, gradeHistogram } from './pictures.ts';
import { reportFindings, type SentencesById } from './report-findings.ts';
import { checkStrip, scoreHistory, scoreWaterfall, waterfallText } from './score-pictures.ts';

/** One published scan of the last 24 hours. */
export type DayScan = Pick<ScanReport, 'scannedAt' | 'results'>;

export type ReportPageInput = {
  readonly host: string;
  readonly summary: GradeSummary;
  readonly subScores: SubScores | null;
  readonly checksVersion: string | null;
  /** The published report while it is fresh and free to read; null otherwise. */
  readonly report: ScanReport | null;
  /** The scans of the last 24 hours whose results are kept, newest first; the report's own among them. */
  readonly dayScans: readonly DayScan[];
  /** Oldest first. */
  readonly history: readonly HistoryRow[];
  /** Counts of all listed origins. */
  readonly gradeCounts: GradeCounts;
  readonly catalog: Catalog;
  readonly says: SentencesById;
  readonly baseUrl: string;
  readonly siteUrl: string;
  /** "$0.05" */
  readonly scanPrice: string;
  readonly reportIsFree: boolean;
  /** The stack that the reader asked for; null and unknown names mean the default stack. */
  readonly stack: string | null;
  /** Null if the census never looked at the host, and in revisions that do not tell of it. */
  readonly availability: Availability | null;
  /** True if the census of this service made the scan. */
  readonly isOfCensus: boolean;
  readonly nowMs: number;
  /** True for a report whose page would be over its limit otherwise. */
  readonly isBrief: boolean;
};

/** The page stays small; the report of the API has every row. */
const MAX_ROWS = 6;
const BRIEF_ROWS = 8;
const MAX_ASIDE_BYTES = 140;

const PARTS = [
  ['Protocol', 'protocol', 'protocol', 'The 402 challenge, price, recipient, HEAD.'],
  ['Docs', 'docs', 'docs', 'OpenAPI, manifest, llms.txt, agent card, robots.'],
  ['Standing', 'standing', 'directory', 'Indexes, settlements, listing.'],
] as const;

/** Thresholds of the meters: red below the first, green from the second. */
const [[, GOOD_FROM], , [, FAIR_FROM]] = GRADES;

const VERDICTS: Readonly<Record<Grade, string>> = {
  A: 'Agents can find, understand and pay it.',
  B: 'Agents can pay it; something that matters is off.',
  C: 'Agents may manage; several things are off.',
  D: 'Agents will struggle.',
  F: 'Agents cannot rely on paying it.',
};

export function reportPage(input: ReportPageInput) {
  const { host, summary, report, gradeCounts } = input;
  const { grade } = summary;
  const findings = report === null ? null : findingsSection(report, input);
  return {
    title: grade === null ? `${host}: not scanned yet` : `${host}: grade ${grade}`,
    summary: `x402 conformance of ${host}`,
    host,
    grade,
    score: summary.score,
    verdict: grade === null ? '' : VERDICTS[grade],
    rank: grade === null ? null : findGradeRank(gradeCounts, grade),
    fresh: summary.fresh,
    scannedAt: summary.scannedAt,
    scannedAtText: summary.scannedAt === null ? '' : minuteText(summary.scannedAt),
    checksVersion: input.checksVersion,
    isOfCensus: input.isOfCensus,
    days: daysSection(input),
    counts: countsOf(summary, findings),
    subScores: PARTS.map(([label, key, category, about]) => ({
      label,
      about: `${about} Weight ${WEIGHTS[category]}.`,
      score: input.subScores?.[key] ?? null,
    })),
    meter: { low: FAIR_FROM, high: GOOD_FROM },
    totalChecks: TOTAL_CHECKS,
    payable: report === null ? null : payableSection(report, input.isBrief),
    findings,
    otherWays: waysSection(report?.otherWays ?? [], input.isBrief),
    strips: stripsOf(input),
    advice: (report?.advice ?? []).map((one) => ({
      ...one,
      evidence: cutText(one.evidence, MAX_ASIDE_BYTES),
    })),
    indexed: indexedSection(report?.indexed ?? []),
    history: historySection(input),
    histogram: grade === null ? null : gradeHistogram(gradeCounts, grade),
    requests: [
      ...copyableRequests({ ...input, origin: summary.origin }),
      localScan({ origin: summary.origin }),
    ],
    badgeMarkdown: `[![x402 grade](${input.siteUrl}/badge/${encodeURI(host)}.svg)](${reportUrl(input.siteUrl, host)})`,
  };
}

function findingsSection(report: ScanReport, { catalog, says, stack, isBrief }: ReportPageInput) {
  const { first, costs, ...others } = reportFindings(report, catalog, says, isBrief);
  const { score, grade } = report;
  return {
    ...others,
    ...fixFirst(report, first, stack, isBrief),
    waterfall: scoreWaterfall({ score, grade, costs }),
    waterfallText: waterfallText({ score, grade, costs }),
  };
}

/**
 * The API counts undetermined checks as warnings, and those that were not evaluated as failures. The page
 * does neither, because nothing wrong was seen.
 */
function countsOf(
  { passCount, warnCount, failCount }: GradeSummary,
  findings: ReturnType<typeof findingsSection> | null,
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

function stripsOf({ dayScans, catalog }: ReportPageInput) {
  const scans = dayScans.map(({ scannedAt, results }) => ({
    time: scannedAt.slice(11, 16),
    results: inOrder(results, catalog),
  }));
  if (scans.length === 0) return [];
  return catalog.categories.map(({ key, label }) => ({
    label,
    picture: checkStrip({ category: key, label }, scans),
  }));
}

/** Sorts by the catalog, so that each column shows one check, also for scans by different catalogs. */
function inOrder(results: readonly CheckResult[], { checks }: Catalog): readonly CheckResult[] {
  const byId = new Map(results.map((result) => [result.id, result]));
  return checks.flatMap(({ id }) => byId.get(id) ?? []);
}

function historySection({ history, isBrief }: ReportPageInput) {
  if (history.length < 2) return null;
  const versions = new Set(history.map(({ checksVersion }) => checksVersion));
  const newest = history.toReversed().slice(0, isBrief ? BRIEF_ROWS : history.length);
  const rows = newest.map(({ scannedAtMs, grade, score, checksVersion }) => {
    const at = new Date(scannedAtMs).toISOString();
    return { text: minuteText(at), grade, score, checksVersion };
  });
  return { picture: scoreHistory(history), rows, hasMarks: versions.size > 1 };
}

function daysSection({ availability, nowMs }: ReportPageInput) {
  if (availability === null) return null;
  return { picture: dayStrip(availability.days, nowMs), words: daysText(availability) };
}

function waysSection(ways: readonly OtherWay[], isBrief: boolean) {
  const shown = ways.slice(0, isBrief ? 1 : MAX_ROWS);
  return shown.map(({ method, path, protocol, methods }) => ({
    resource: cutText(`${method} ${path}`, MAX_ASIDE_BYTES),
    protocol,
    methods: cutText(methods.join(', '), MAX_ASIDE_BYTES),
  }));
}

function indexedSection(rows: readonly IndexedRow[]) {
  if (!isWorthShowing(rows)) return [];
  return rows.slice(0, MAX_ROWS).map((row) => ({
    index: INDEX_NAMES[row.index],
    resource: cutText(`${row.method} ${row.resource}`, MAX_ASIDE_BYTES),
    words: cutText(stateWords(row), MAX_ASIDE_BYTES),
    reasons: row.reasons.map((one) => {
      const { seen, step } = reasonWords(one);
      return { seen: cutText(seen, MAX_ASIDE_BYTES), step };
    }),
  }));
}

/** "2026-09-01 12:00 UTC" */
function minuteText(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}
