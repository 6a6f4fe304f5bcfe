import { randomUUID } from 'node:crypto';
import type { DirectoryVersions, ExportRecord } from '../store/directory.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { NOTICES, toProject } from './project.ts';

const MAX_EXPORT_RECORDS = 10_000;

/**
 * Streams the directory as one JSON document, which is never in memory as a whole. `body` can be read only once. If
 * there are more projects than `limit`, `truncated` is true, and the export has only the most recently scanned ones.
 */
export async function exportDirectory(
  store: Pick<Store, 'exports'>,
  siteUrl: string,
  limit = MAX_EXPORT_RECORDS,
) {
  const { count, truncated, exportedAtMs, records } = await store.exports.takeSnapshot(limit);
  const exportedAt = new Date(exportedAtMs).toISOString();
  const head = { count, truncated, exportedAt, ...NOTICES };
  return { count, truncated, exportedAtMs, body: write() };

  async function* write(): AsyncIterable<Uint8Array> {
    const encoder = new TextEncoder();
    // The last character of the head, its closing brace, is sent after the list.
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

function toExportedProject(record: ExportRecord, siteUrl: string, nowMs: number) {
  return {
    // Every API revision with an export also shows the census, and who can pay.
    ...toProject(record, { siteUrl, revision: { showsCensus: true, showsPayers: true } }, nowMs),
    // Oldest first.
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

/** An older export is not sold again. */
const MAX_EXPORT_AGE_MS = 60_000;
/** An export is written again if an owner changes a setting during the export. */
const MAX_ATTEMPTS = 5;

type StoredExport = {
  readonly versions: DirectoryVersions;
  readonly takenAtMs: number;
  readonly answerId: Promise<string>;
};

type ExportSnapshotOptions = {
  readonly store: Pick<Store, 'answers' | 'directory' | 'exports' | 'now'>;
  readonly siteUrl: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Payers of one minute get the same export if the directory is unchanged. It never lists an owner who opted out. */
export class ExportSnapshots {
  readonly #options: ExportSnapshotOptions;
  #lastExport: StoredExport | null = null;

  constructor(options: ExportSnapshotOptions) {
    this.#options = options;
  }

  /** Returns the id of a complete stored export of the present directory. */
  async findOrWrite(): Promise<string> {
    const { store } = this.#options;
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      const versions = await store.directory.readVersions();
      const { answerId } = this.#findReusable(versions) ?? this.#startExport(versions);
      const id = await answerId;
      // The export must contain each setting that an owner changed during the write, but not each new scan.
      const { preferences } = await store.directory.readVersions();
      if (preferences === versions.preferences) return id;
    }
    const message = `owners changed their settings during each of ${MAX_ATTEMPTS} exports; try again`;
    throw new StoreError('unavailable', message);
  }

  #findReusable({ published, preferences }: DirectoryVersions): StoredExport | null {
    const last = this.#lastExport;
    if (last?.versions.published !== published) return null;
    if (last.versions.preferences !== preferences) return null;
    return this.#options.store.now() - last.takenAtMs < MAX_EXPORT_AGE_MS ? last : null;
  }

  #startExport(versions: DirectoryVersions): StoredExport {
    const answerId = this.#write();
    const snapshot = { versions, takenAtMs: this.#options.store.now(), answerId };
    this.#lastExport = snapshot;
    // The next caller starts a new export instead of waiting for a failed one.
    answerId.catch(() => {
      if (this.#lastExport === snapshot) this.#lastExport = null;
    });
    return snapshot;
  }

  async #write(): Promise<string> {
    const { store, siteUrl, headers } = this.#options;
    const { body } = await exportDirectory(store, siteUrl);
    const answerId = randomUUID();
    await store.answers.put(answerId, { status: 200, headers }, body);
    return answerId;
  }
}
