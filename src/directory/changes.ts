import { InvalidParameter } from '../model/errors.ts';
import { parseInstant } from '../parse/text/instant.ts';
import type { ChangesQuery, DirectoryChange } from '../store/changes.ts';
import type { Store } from '../store/store.ts';
import { DISCLAIMER, PROVENANCE, reportUrl } from './project.ts';

const DEFAULT_CHANGES = 100;
const MAX_CHANGES = 1_000;
/** Later instants can need five digits for the year, which `parseInstant` does not read. */
const END_MS = Date.UTC(9999, 0, 1);

/** Reads the query string as it came over the wire. Throws InvalidParameter. */
export function parseChangesQuery(query: {
  readonly since?: string | undefined;
  readonly limit?: string | undefined;
}): ChangesQuery {
  const sinceMs = query.since === undefined ? null : parseInstant(query.since);
  if (sinceMs === null || sinceMs < 0 || sinceMs >= END_MS) {
    throw new InvalidParameter(
      'since',
      'an ISO 8601 instant with an offset from 1970 to 9998, such as 2026-08-14T00:00:00Z ("+" of an offset is written %2B)',
    );
  }
  const limit = query.limit ?? String(DEFAULT_CHANGES);
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > MAX_CHANGES) {
    throw new InvalidParameter('limit', `an integer from 1 to ${MAX_CHANGES}`);
  }
  return { sinceMs, limit: Number(limit) };
}

/** Directory changes after an instant, oldest first. */
export async function listChanges(store: Store, query: ChangesQuery, siteUrl: string) {
  const { changes, hasMore } = await store.changes.list(query);
  const lastMs = changes.at(-1)?.changedAtMs ?? query.sinceMs;
  return {
    since: new Date(query.sinceMs).toISOString(),
    count: changes.length,
    limit: query.limit,
    hasMore,
    // The `since` that continues: nothing is lost or repeated.
    nextSince: new Date(lastMs).toISOString(),
    disclaimer: DISCLAIMER,
    provenance: PROVENANCE,
    changes: changes.map((change) => toChange(change, siteUrl)),
  };
}

function toChange(change: DirectoryChange, siteUrl: string) {
  const { previousGrade, previousScore } = change;
  return {
    changeType: change.changeType,
    // Strictly increasing from change to change.
    changedAt: new Date(change.changedAtMs).toISOString(),
    host: change.host,
    grade: change.grade,
    score: change.score,
    checksVersion: change.checksVersion,
    reportUrl: reportUrl(siteUrl, change.host),
    ...(previousGrade === undefined ? {} : { previousGrade }),
    ...(previousScore === undefined ? {} : { previousScore }),
  };
}
