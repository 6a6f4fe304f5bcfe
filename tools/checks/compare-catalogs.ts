/** Compares the grades of recorded origins under two catalogs. */
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Catalog } from '../../src/scanner/engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../src/scanner/engine/catalog/discover-checks.ts';
import type { Pool } from '../../src/scanner/engine/judging-pool.ts';
import type { CheckResult, ScanReport } from '../../src/scanner/model/report.ts';
import { readRecording } from '../../src/scanner/probe/read-recording.ts';
import { limitToCatalog } from '../../src/scanner/probe/recording.ts';
import { gradeObservations } from '../../src/scanner/scan/grade-observations.ts';

export type CompareOptions = {
  readonly from: Catalog;
  readonly to: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
  /** Folder of recordings, ending in a slash. */
  readonly recordings: URL;
};

export type ComparedOrigin = {
  /** The recording's file, without ".json". */
  readonly name: string;
  readonly from: Pick<ScanReport, 'grade' | 'score'>;
  readonly to: Pick<ScanReport, 'grade' | 'score'>;
  /** "P6 pass equal -> fail mismatch" */
  readonly moved: readonly string[];
};

/** Returns one row for each recording, sorted by name; no rows if the folder does not exist. */
export async function compareCatalogs(options: CompareOptions): Promise<readonly ComparedOrigin[]> {
  const rows: ComparedOrigin[] = [];
  for (const file of await listRecordings(options.recordings)) {
    const url = new URL(encodeURIComponent(file), options.recordings);
    const { observations, scannedAt } = await readRecording(fileURLToPath(url));
    const reports = [options.from, options.to].map(async (catalog) => {
      const visibleObservations = limitToCatalog(observations, catalog.probing);
      return (await gradeObservations(visibleObservations, scannedAt, { ...options, catalog }))
        .report;
    });
    const [from, to] = await Promise.all(reports);
    if (!from || !to) continue;
    rows.push({ name: file.replace(/\.json$/, ''), from, to, moved: listMovedCells(from, to) });
  }
  return rows;
}

/** Writes a table for the terminal. It lists the origins whose score changed, or whose checks changed. */
export function renderComparison(
  rows: readonly ComparedOrigin[],
  from: string,
  to: string,
): readonly string[] {
  if (rows.length === 0) return ['No recorded origins: nothing to compare.'];
  const moved = rows.filter((row) => row.moved.length > 0 || row.from.score !== row.to.score);
  const width = Math.max(...rows.map(({ name }) => name.length));
  const head = `${rows.length} recorded origins, ${from} -> ${to}: ${moved.length} move`;
  return [
    head,
    ...moved.flatMap((row) => [
      `${row.name.padEnd(width)}  ${toGradeText(row.from)} -> ${toGradeText(row.to)}`,
      ...row.moved.map((cell) => `  ${cell}`),
    ]),
  ];
}

async function listRecordings(folder: URL): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => name.endsWith('.json')).sort();
}

function listMovedCells(from: ScanReport, to: ScanReport): readonly string[] {
  return to.results.flatMap((after, index) => {
    const before = from.results[index];
    if (!before) return [];
    const [oldCell, newCell] = [toCell(before), toCell(after)];
    const id = before.id === after.id ? after.id : `${before.id}, ${after.id}`;
    return oldCell === newCell ? [] : [`${id} ${oldCell} -> ${newCell}`];
  });
}

function toCell({ status, basis, outcome }: CheckResult): string {
  return basis === 'measured' ? `${status} ${outcome}` : `${status} ${outcome} (${basis})`;
}

function toGradeText({ grade, score }: Pick<ScanReport, 'grade' | 'score'>): string {
  return `${grade} ${String(score).padStart(3)}`;
}
