import { GRADES } from '../../../engine/score.ts';
import type { HistoryRow } from '../../../store/history.ts';
import { type Markup, markup } from './markup.ts';

export type HistoryScan = Pick<HistoryRow, 'grade' | 'score' | 'scannedAtMs' | 'checksVersion'>;

const PLOT = { width: 600, top: 14, bottom: 154 } as const;
const SIZE = { width: 640, height: 180 } as const;

/** Scores over scans, oldest first; dashed where another catalog judged from there on. */
export function scoreHistory(scans: readonly HistoryScan[]): Markup {
  const step = scans.length > 1 ? PLOT.width / (scans.length - 1) : 0;
  const xOf = (index: number) => Math.round(10 + index * step);
  const rules = GRADES.map(
    ([grade, from]) =>
      markup`<line x1="0" y1="${yOf(from)}" x2="${PLOT.width + 20}" y2="${yOf(from)}" class="rule"/><text x="${SIZE.width - 14}" y="${yOf(from) + 5}" class="soft">${grade}</text>`,
  );
  const marks = scans.flatMap(({ checksVersion }, index) => {
    const before = scans[index - 1];
    if (before === undefined || before.checksVersion === checksVersion) return [];
    const x = Math.round(10 + (index - 0.5) * step);
    return [
      markup`<line x1="${x}" y1="4" x2="${x}" y2="${PLOT.bottom}" class="catalog"><title>checks ${checksVersion}</title></line>`,
    ];
  });
  const line = scans.map(({ score }, index) => `${xOf(index)},${yOf(score)}`).join(' ');
  const points = scans.map(
    (scan, index) =>
      markup`<circle cx="${xOf(index)}" cy="${yOf(scan.score)}" r="5" class="grade-${scan.grade}"/>`,
  );
  const [first, last] = [scans[0], scans.at(-1)];
  const told = `Scores of ${scans.length} scans, from ${first ? historyLine(first) : ''} to ${last ? historyLine(last) : ''}`;
  return markup`<svg class="picture history" viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="${told}">${rules}${marks}<polyline points="${line}"/>${points}<text x="4" y="${SIZE.height - 4}" class="soft">${dayOf(first)}</text><text x="${PLOT.width + 14}" y="${SIZE.height - 4}" class="soft end">${dayOf(last)}</text></svg>`;
}

/** "2026-09-01: B 86, checks 2026-08-14.2" */
function historyLine(scan: HistoryScan): string {
  return `${dayOf(scan)}: ${scan.grade} ${scan.score}, checks ${scan.checksVersion}`;
}

function dayOf(scan: HistoryScan | undefined): string {
  return scan === undefined ? '' : new Date(scan.scannedAtMs).toISOString().slice(0, 10);
}

function yOf(score: number): number {
  return Math.round(PLOT.bottom - ((PLOT.bottom - PLOT.top) * score) / 100);
}
