import { InvalidParameter } from '../errors/errors.ts';
import type { ChangesQuery, DirectoryChange } from '../store/changes.ts';
import type { Store } from '../store/store.ts';
import { NOTICES, toReportUrl } from './project.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** Callers send `nextSince` back. From the year 10000 on, `toISOString` writes a form that `INSTANT` refuses. */
const MAX_SINCE_MS = Date.UTC(9999, 0, 1);
const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Parses the members of the query string. Throws InvalidParameter. */
export function parseChangesQuery(query: {
  readonly since?: string | undefined;
  readonly limit?: string | undefined;
}): ChangesQuery {
  const sinceMs = query.since === undefined ? null : parseInstant(query.since);
  if (sinceMs === null || sinceMs < 0 || sinceMs >= MAX_SINCE_MS) {
    throw new InvalidParameter(
      'since',
      'an ISO 8601 instant with an offset, from 1970 to 9998, such as 2026-08-14T00:00:00Z; a "+" must be sent as %2B',
    );
  }
  const limit = query.limit ?? String(DEFAULT_LIMIT);
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > MAX_LIMIT) {
    throw new InvalidParameter('limit', `an integer from 1 to ${MAX_LIMIT}`);
  }
  return { sinceMs, limit: Number(limit) };
}

/** Lists directory changes after an instant, oldest first. */
export async function listChanges(store: Store, query: ChangesQuery, siteUrl: string) {
  const { changes, hasMore } = await store.changes.list(query);
  const lastMs = changes.at(-1)?.changedAtMs ?? query.sinceMs;
  return {
    since: new Date(query.sinceMs).toISOString(),
    count: changes.length,
    limit: query.limit,
    hasMore,
    // No two changes have the same instant. A caller that continues here misses nothing and gets nothing twice.
    nextSince: new Date(lastMs).toISOString(),
    ...NOTICES,
    changes: changes.map((change) => toChange(change, siteUrl)),
  };
}

function toChange(change: DirectoryChange, siteUrl: string) {
  return {
    changeType: change.changeType,
    changedAt: new Date(change.changedAtMs).toISOString(),
    host: change.host,
    grade: change.grade,
    score: change.score,
    checksVersion: change.checksVersion,
    reportUrl: toReportUrl(siteUrl, change.host),
    previousGrade: change.previousGrade,
    previousScore: change.previousScore,
  };
}

/** Returns the ms of a strict ISO 8601 instant with an offset; null for other texts and days that do not exist. */
export function parseInstant(text: string): number | null {
  const match = INSTANT.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match;
  // The Date constructor reads 30 February as 2 March.
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
