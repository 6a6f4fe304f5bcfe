/** The view of the report page of one host (interface spec 2.2). */

import type { GradeSummary } from '../../directory/grade-summary.ts';
import { reportUrl } from '../../directory/report-url.ts';
import { type Catalog, TOTAL_CHECKS } from '../../engine/catalog/catalog.ts';
import { GRADES, WEIGHTS } from '../../engine/score.ts';
import type { IndexedRow } from '../../model/indexed.ts';
import type { Grade, ScanReport, SubScores } from '../../model/report.ts';
import { INDEX_NAMES, indexedWords, isWorthShowing } from '../../scan/indexed-words.ts';
import type { HistoryRow } from '../../store/contract/history.ts';
import { copyableRequests } from './copyable-requests.ts';
import { payableSection } from './payable-section.ts';
import { reportFindings, type SentencesById } from './report-findings.ts';
import { gradeHistogram, historyPlot } from './report-plots.ts';

export type ReportPageInput = {
  readonly host: string;
  readonly summary: GradeSummary;
  readonly subScores: SubScores | null;
  readonly checksVersion: string | null;
  /** The published report while it is fresh and free to read; null otherwise. */
  readonly report: ScanReport | null;
  readonly history: readonly HistoryRow[];
  /** Counts of all listed origins. */
  readonly gradeCounts: Readonly<Record<Grade, number>>;
  readonly catalog: Catalog;
  readonly says: SentencesById;
  readonly baseUrl: string;
  readonly siteUrl: string;
  /** "$0.05" */
  readonly scanPrice: string;
  readonly reportIsFree: boolean;
};

const PARTS = [
  ['Protocol', 'protocol', 'protocol', 'The 402 challenge, price, recipient, HEAD.'],
  ['Docs', 'docs', 'docs', 'OpenAPI, manifest, llms.txt, agent card, robots.'],
  ['Standing', 'standing', 'directory', 'Indexes, settlements, listing.'],
] as const;

/** Thresholds of the meters: red below the first, green from the second. */
const [[, GOOD_FROM], , [, FAIR_FROM]] = GRADES;

const VERDICTS: Record<string, string> = {
  A: 'Agents can find, understand and pay it.',
  B: 'Agents can pay it; something that matters is off.',
  C: 'Agents may manage; several things are off.',
  D: 'Agents will struggle.',
  F: 'Agents cannot rely on paying it.',
};

export function reportPage(input: ReportPageInput) {
  const { host, summary, report, history } = input;
  const findings = report === null ? null : reportFindings(report, input.catalog, input.says);
  // The API counts undetermined checks as warnings; the page does not, because nothing wrong was seen.
  const undetermined = findings?.undetermined.length ?? 0;
  return {
    title: summary.grade === null ? `${host}: not scanned yet` : `${host}: grade ${summary.grade}`,
    summary: `x402 conformance of ${host}`,
    host,
    grade: summary.grade,
    score: summary.score,
    verdict: VERDICTS[summary.grade ?? ''] ?? '',
    fresh: summary.fresh,
    scannedAt: summary.scannedAt,
    scannedAtText: summary.scannedAt?.replace('T', ' ').replace(/\.\d+Z$/, ' UTC') ?? '',
    checksVersion: input.checksVersion,
    counts: {
      pass: summary.passCount,
      warn: (summary.warnCount ?? 0) - undetermined,
      fail: summary.failCount,
      undetermined,
    },
    subScores: PARTS.map(([label, key, category, about]) => ({
      label,
      about: `${about} Weight ${WEIGHTS[category]}.`,
      score: input.subScores?.[key] ?? null,
    })),
    meter: { low: FAIR_FROM, high: GOOD_FROM },
    totalChecks: TOTAL_CHECKS,
    payable: report === null ? null : payableSection(report),
    findings,
    advice: report?.advice ?? [],
    indexed: indexedSection(report?.indexed ?? []),
    history: historyPlot(history),
    histogram: gradeHistogram(input.gradeCounts, summary.grade),
    requests: copyableRequests({ ...input, origin: summary.origin }),
    badgeMarkdown: `[![x402 grade](${input.siteUrl}/badge/${encodeURI(host)}.svg)](${reportUrl(input.siteUrl, host)})`,
  };
}

function indexedSection(rows: readonly IndexedRow[]) {
  if (!isWorthShowing(rows)) return [];
  return rows.map((row) => ({
    index: INDEX_NAMES[row.index],
    resource: `${row.method} ${row.resource}`,
    words: indexedWords(row),
  }));
}
