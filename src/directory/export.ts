import type { Grade } from '../model/report.ts';
import type { ExportRecord } from '../store/directory.ts';
import type { Store } from '../store/store.ts';
import { type Project, toProject } from './project.ts';
import { DISCLAIMER, PROVENANCE } from './provenance.ts';

const MAX_EXPORT_RECORDS = 10_000;

export type ExportedProject = Project & {
  /** Oldest first. */
  readonly gradeHistory: readonly {
    readonly grade: Grade;
    readonly score: number;
    readonly scannedAt: string;
    readonly checksVersion: string;
  }[];
  /** ISO 8601, UTC. */
  readonly firstSeenAt: string;
  readonly scanCount: number;
};

export type DirectoryExport = {
  readonly count: number;
  /** True where there are more than 10,000 projects; the export has the most recently scanned. */
  readonly truncated: boolean;
  readonly exportedAtMs: number;
  /** The JSON document, in pieces; once only. */
  readonly body: AsyncIterable<Uint8Array>;
};

/** Streams the directory as one JSON document, so that it is never in memory as a whole. */
export async function exportDirectory(
  store: Pick<Store, 'exports'>,
  siteUrl: string,
  limit = MAX_EXPORT_RECORDS,
): Promise<DirectoryExport> {
  const { count, truncated, exportedAtMs, records } = await store.exports.snapshot(limit);
  const head = {
    count,
    truncated,
    exportedAt: new Date(exportedAtMs).toISOString(),
    disclaimer: DISCLAIMER,
    provenance: PROVENANCE,
  };
  return { count, truncated, exportedAtMs, body: write() };

  async function* write(): AsyncIterable<Uint8Array> {
    const encoder = new TextEncoder();
    // The head's closing brace moves behind the list.
    yield encoder.encode(`${JSON.stringify(head).slice(0, -1)},"projects":[`);
    let separator = '';
    for await (const record of records) {
      const project = toExportedProject(record, siteUrl, exportedAtMs);
      yield encoder.encode(separator + JSON.stringify(project));
      separator = ',';
    }
    yield encoder.encode(']}');
  }
}

function toExportedProject(record: ExportRecord, siteUrl: string, nowMs: number): ExportedProject {
  return {
    ...toProject(record, siteUrl, nowMs),
    gradeHistory: record.history.map(({ grade, score, scannedAtMs, checksVersion }) => ({
      grade,
      score,
      scannedAt: new Date(scannedAtMs).toISOString(),
      checksVersion,
    })),
    firstSeenAt: new Date(record.firstSeenAtMs).toISOString(),
    scanCount: record.scanCount,
  };
}
