import { GRADES } from '../../engine/score.ts';
import { ALL_GRADES, type Grade } from '../../model/report.ts';
import type { HistoryRow } from '../../store/contract/history.ts';

const PLOT = { width: 600, top: 12, bottom: 110 } as const;

/** Coordinates for inline SVG: a point for each scan, a mark where the catalog changed. */
export function historyPlot(history: readonly HistoryRow[]) {
  const step = history.length > 1 ? PLOT.width / (history.length - 1) : 0;
  const yOf = (score: number) => Math.round(PLOT.bottom - ((PLOT.bottom - PLOT.top) * score) / 100);
  const points = history.map((row, index) => ({
    x: Math.round(index * step),
    y: yOf(row.score),
    grade: row.grade,
    label: `${new Date(row.scannedAtMs).toISOString().slice(0, 16)}: ${row.grade} ${row.score}, checks ${row.checksVersion}`,
  }));
  const marks = history.flatMap((row, index) => {
    const before = history[index - 1];
    if (before === undefined || before.checksVersion === row.checksVersion) return [];
    return [{ x: Math.round((index - 0.5) * step), label: `checks ${row.checksVersion}` }];
  });
  const rules = GRADES.map(([grade, from]) => ({ grade, y: yOf(from) }));
  return { points, line: points.map(({ x, y }) => `${x},${y}`).join(' '), marks, rules };
}

/** Bars for the number of listed origins with each grade; the origin's own is marked. */
export function gradeHistogram(counts: Readonly<Record<Grade, number>>, own: Grade | null) {
  const total = ALL_GRADES.reduce((sum, grade) => sum + counts[grade], 0);
  const most = Math.max(1, ...ALL_GRADES.map((grade) => counts[grade]));
  return {
    total,
    bars: ALL_GRADES.map((grade) => ({
      grade,
      count: counts[grade],
      percent: total === 0 ? 0 : Math.round((100 * counts[grade]) / total),
      width: Math.round((100 * counts[grade]) / most),
      isOwn: grade === own,
    })),
  };
}
