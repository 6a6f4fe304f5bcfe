/** The directory on MongoDB. */
import type { Filter, Sort } from 'mongodb';
import { ALL_GRADES } from '../../model/report.ts';
import type { DirectoryQuery, DirectoryRecord, DirectoryStore } from '../contract/directory.ts';
import { countsOf } from '../rules/grade-counts.ts';
import { hostSubstring, ngramsOfSubstring } from '../rules/host-ngrams.ts';
import { ChangeFeed } from './change-feed.ts';
import type { MongoContext } from './context.ts';
import type { RecordDocument } from './documents.ts';
import { optedOutHosts, verifiedHosts, withOwnerPreferences } from './owner-preferences.ts';
import { readVersions } from './versions.ts';

const SORTS: Readonly<Record<DirectoryQuery['sort'], Sort>> = {
  recent: { scannedAtMs: -1, _id: 1 },
  grade: { grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
};
/** The ngrams are for searching alone. */
const PROJECTION = { ngrams: 0 };

export function mongoDirectory(context: MongoContext): DirectoryStore {
  const { records } = context;
  const feed = new ChangeFeed(context.changes);
  return {
    async get(host) {
      const record = await records.byId(host);
      return record && ((await withOwnerPreferences(context, [record]))[0] ?? null);
    },

    versions: () => readVersions(context, feed),

    async list(query) {
      const filter = await directoryFilter(context, query);
      if (!filter) return { count: 0, records: [] };
      const { sort, page, pageSize } = query;
      const [count, found] = await Promise.all([
        records.count(filter),
        records.all(filter, {
          sort: SORTS[sort],
          skip: page * pageSize,
          limit: pageSize,
          projection: PROJECTION,
        }),
      ]);
      return { count, records: await listedOnly(context, found) };
    },

    async grades() {
      const listed = notIn(await optedOutHosts(context));
      const counts = await Promise.all(
        ALL_GRADES.map(
          async (grade) => [grade, await records.count({ grade, ...listed })] as const,
        ),
      );
      return countsOf((grade) => new Map(counts).get(grade) ?? 0);
    },

    async featured({ sinceMs, limit }) {
      const filter: Filter<RecordDocument> = {
        grade: 'A',
        scannedAtMs: { $gte: sinceMs },
        ...notIn(await optedOutHosts(context)),
      };
      const options = { sort: SORTS.recent, limit, projection: PROJECTION };
      const [count, found] = await Promise.all([
        records.count(filter),
        records.all(filter, options),
      ]);
      return { count, records: await listedOnly(context, found) };
    },
  };
}

/** Owners are asked again after the rows were read: one may have opted out meanwhile. */
export async function listedOnly(
  context: MongoContext,
  found: readonly RecordDocument[],
): Promise<readonly DirectoryRecord[]> {
  return (await withOwnerPreferences(context, found)).filter((record) => record.listed);
}

/** Null when nothing can match. */
async function directoryFilter(
  context: MongoContext,
  query: DirectoryQuery,
): Promise<Filter<RecordDocument> | null> {
  const q = hostSubstring(query.q ?? '');
  if (q === null) return null;
  const conditions: Filter<RecordDocument>[] = [notIn(await optedOutHosts(context))];
  if (query.verified) conditions.push({ _id: { $in: [...(await verifiedHosts(context))] } });
  if (query.category !== undefined) conditions.push({ category: query.category });
  // The index finds hosts that have all the runs of characters, the pattern those in one piece.
  if (q !== '') {
    conditions.push({ ngrams: { $all: [...ngramsOfSubstring(q)] }, _id: { $regex: literal(q) } });
  }
  return { $and: conditions };
}

export function notIn(hosts: readonly string[]): Filter<RecordDocument> {
  return hosts.length > 0 ? { _id: { $nin: [...hosts] } } : {};
}

/** A pattern for exactly this text; `hostSubstring` left host characters only. */
function literal(q: string): string {
  return q.replaceAll(/[.[\]-]/g, '\\$&');
}
