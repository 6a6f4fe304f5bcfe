/** How the feed of changes continues. */
import type { DirectoryChange } from '../contract/changes.ts';
import type { PublishedScan } from '../contract/published-scan.ts';

/**
 * The change that follows `tail` in the feed. It is told against what the feed last said of this
 * host, not against the history: then the feed never contradicts itself, whatever order hosts
 * publish in, and a scan that is published late announces the grade that still stands.
 */
export function nextChange(from: {
  readonly scanId: string;
  /** The host's current scan, the published one included. */
  readonly current: PublishedScan;
  readonly tail: { readonly n: number; readonly changedAtMs: number } | null;
  readonly lastOfHost: Pick<DirectoryChange, 'grade' | 'score'> | null;
  readonly nowMs: number;
}): DirectoryChange {
  const { scanId, current, tail, lastOfHost, nowMs } = from;
  const base = {
    n: (tail?.n ?? 0) + 1,
    scanId,
    changedAtMs: Math.max(nowMs, (tail?.changedAtMs ?? 0) + 1),
    host: current.host,
    grade: current.grade,
    score: current.score,
    checksVersion: current.checksVersion,
  };
  if (!lastOfHost) return { ...base, changeType: 'new' };
  if (lastOfHost.grade === current.grade) return { ...base, changeType: 'rescanned' };
  return {
    ...base,
    changeType: 'grade_changed',
    previousGrade: lastOfHost.grade,
    previousScore: lastOfHost.score,
  };
}
