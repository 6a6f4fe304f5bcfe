import { randomUUID } from 'node:crypto';
import type { DirectoryVersions, ExportRecord } from '../store/directory.ts';
import { StoreError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import { DISCLAIMER, PROVENANCE, toProject } from './project.ts';

const MAX_EXPORT_RECORDS = 10_000;

/**
 * Streams the directory as one JSON document, so that it is never in memory as a whole; `body` can be read once. If
 * there are more projects than `limit`, `truncated` is true and the export has the most recently scanned ones.
 */
export async function exportDirectory(
  store: Pick<Store, 'exports'>,
  siteUrl: string,
  limit = MAX_EXPORT_RECORDS,
) {
  const { count, truncated, exportedAtMs, records } = await store.exports.takeSnapshot(limit);
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

function toExportedProject(record: ExportRecord, siteUrl: string, nowMs: number) {
  return {
    // Every revision that sells the export shows the census.
    ...toProject(record, { siteUrl, showsCensus: true }, nowMs),
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

const LIFETIME_MS = 60_000;
/** If an owner changes a setting while an export is written, the export is written again. */
const MAX_TAKES = 5;

type Snapshot = {
  readonly versions: DirectoryVersions;
  readonly takenAtMs: number;
  readonly answerId: Promise<string>;
};

export type ExportSnapshotOptions = {
  readonly store: Pick<Store, 'answers' | 'directory' | 'exports' | 'now'>;
  readonly siteUrl: string;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Stored exports; one serves all payers of a minute while the directory is unchanged. Each call reads the
 * versions that all instances write, so an export that is sold after an opt-out never lists that owner.
 */
export class ExportSnapshots {
  readonly #options: ExportSnapshotOptions;
  #last: Snapshot | null = null;

  constructor(options: ExportSnapshotOptions) {
    this.#options = options;
  }

  /** The id of a stored answer, complete, that shows the directory as it is now. */
  async current(): Promise<string> {
    const { store } = this.#options;
    for (let takes = 0; takes < MAX_TAKES; takes += 1) {
      const versions = await store.directory.readVersions();
      const { answerId } = this.#lastIfUnchanged(versions) ?? this.#take(versions);
      const id = await answerId;
      // An owner's change during the write must be in the export; a publication may miss it.
      const { preferences } = await store.directory.readVersions();
      if (preferences === versions.preferences) return id;
    }
    const message = `owners changed their settings during each of ${MAX_TAKES} exports; try again`;
    throw new StoreError('unavailable', message);
  }

  #lastIfUnchanged({ published, preferences }: DirectoryVersions): Snapshot | null {
    const last = this.#last;
    if (last?.versions.published !== published) return null;
    if (last.versions.preferences !== preferences) return null;
    return this.#options.store.now() - last.takenAtMs < LIFETIME_MS ? last : null;
  }

  #take(versions: DirectoryVersions): Snapshot {
    const answerId = this.#write();
    const snapshot = { versions, takenAtMs: this.#options.store.now(), answerId };
    this.#last = snapshot;
    // The next caller starts a new export instead of waiting for a failed one.
    answerId.catch(() => {
      if (this.#last === snapshot) this.#last = null;
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
