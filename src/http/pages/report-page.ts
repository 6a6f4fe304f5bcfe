/** What the shareable report page of one host shows (interface spec 2.2). */

import type { GradeSummary } from '../../directory/grade-summary.ts';
import { reportUrl } from '../../directory/report-url.ts';
import type { CheckResult, ScanReport, SubScores } from '../../model/report.ts';
import type { HistoryRow } from '../../store/contract/history.ts';

export type ReportPageInput = {
  readonly host: string;
  readonly summary: GradeSummary;
  readonly subScores: SubScores | null;
  readonly checksVersion: string | null;
  /** The published report while it is fresh and free to read; null otherwise. */
  readonly report: ScanReport | null;
  readonly history: readonly HistoryRow[];
  readonly baseUrl: string;
  readonly siteUrl: string;
  /** "$0.05", and whether the report route costs too. */
  readonly scanPrice: string;
  readonly reportIsFree: boolean;
};

const PARTS = [
  ['Protocol', 'protocol', 'The 402 challenge, price, recipient, HEAD. Weight 50.'],
  ['Docs', 'docs', 'OpenAPI, manifest, llms.txt, agent card, robots. Weight 40.'],
  ['Standing', 'standing', 'Indexes, settlements, listing. Weight 10.'],
] as const;

const VERDICTS: Record<string, string> = {
  A: 'Agents can find, understand and pay it.',
  B: 'Agents can pay it; something that matters is off.',
  C: 'Agents may manage; several things are off.',
  D: 'Agents will struggle.',
  F: 'Agents cannot rely on paying it.',
};

export function reportPage(input: ReportPageInput) {
  const { host, summary, report, history } = input;
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
    counts: { pass: summary.passCount, warn: summary.warnCount, fail: summary.failCount },
    subScores: PARTS.map(([label, key, about]) => ({
      label,
      about,
      score: input.subScores?.[key] ?? null,
    })),
    findings: report === null ? null : findingsOf(report.results),
    ...historyPlot(history),
    requests: requests(input),
    badgeMarkdown: `[![x402 grade](${input.siteUrl}/badge/${encodeURI(host)}.svg)](${reportUrl(input.siteUrl, host)})`,
  };
}

const RANK = { critical: 0, major: 1, minor: 2 } as const;

/** By severity; what nobody could determine is nothing to mend first. */
function rank({ severity, basis }: CheckResult): number {
  return RANK[severity] + (basis === 'not_determined' ? 10 : 0);
}

function findingsOf(results: readonly CheckResult[]) {
  const by = (status: CheckResult['status']) =>
    results
      .filter((result) => result.status === status)
      .sort((one, other) => rank(one) - rank(other));
  return { problems: [...by('fail'), ...by('warn')], passed: by('pass') };
}

const PLOT = { width: 600, top: 12, bottom: 110 } as const;

function historyPlot(history: readonly HistoryRow[]) {
  const step = history.length > 1 ? PLOT.width / (history.length - 1) : 0;
  const points = history.map((row, index) => ({
    x: Math.round(index * step),
    y: Math.round(PLOT.bottom - ((PLOT.bottom - PLOT.top) * row.score) / 100),
    grade: row.grade,
    label: `${new Date(row.scannedAtMs).toISOString().slice(0, 16)}: ${row.grade} ${row.score}`,
  }));
  return { history: points, historyPoints: points.map(({ x, y }) => `${x},${y}`).join(' ') };
}

/** Copyable requests; they hold the canonical origin and nothing else of the origin's. */
function requests({ summary, baseUrl, scanPrice, reportIsFree }: ReportPageInput) {
  const url = encodeURIComponent(summary.origin);
  const body = JSON.stringify({ url: summary.origin });
  return [
    { about: 'The grade, free:', command: `curl '${baseUrl}/v1/status?url=${url}'` },
    {
      about: `The findings of the last 24 hours, ${reportIsFree ? 'free' : 'paid over x402'}:`,
      command: `curl '${baseUrl}/v1/report?url=${url}'`,
    },
    {
      about: `A fresh scan, ${scanPrice} over x402 (answers 402 with the challenge; any x402 client pays it):`,
      command: `curl -X POST '${baseUrl}/v1/scan' -H 'content-type: application/json' -d '${body}'`,
    },
  ];
}
