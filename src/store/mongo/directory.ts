/** The directory on MongoDB. */
import type { Filter, Sort } from 'mongodb';
import type { DirectoryQuery, DirectoryRecord, DirectoryStore } from '../contract/directory.ts';
import { countsOf } from '../rules/grade-counts.ts';
import { hostSubstring, ngramsOfSubstring } from '../rules/host-ngrams.ts';
import { publishedScanFromJson } from '../rules/published-scan.ts';
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
  const { records, announced } = context;
  return {
    async get(host) {
      const record = await records.byId(host);
      return record && ((await withOwnerPreferences(context, [record]))[0] ?? null);
    },

    async gradeOf(host) {
      const record = await records.byId(host);
      return record && publishedScanFromJson(record.scan);
    },

    versions: () => readVersions(context),

    async list(query) {
      const filter = await directoryFilter(context, query);
      if (!filter) return { count: 0, records: [] };
      const { sort, page, pageSize } = query;
      const skip = page * pageSize;
      const count = await countOf(query, filter);
      if (skip >= count) return { count, records: [] };
      const options = { sort: SORTS[sort], skip, limit: pageSize, projection: PROJECTION };
      return { count, records: await listedOnly(context, await records.all(filter, options)) };
    },

    async grades() {
      const counts = await announced.countWithout(await optedOutHosts(context));
      return countsOf((grade) => counts.count({ grade }));
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

  async function countOf(query: DirectoryQuery, filter: Filter<RecordDocument>): Promise<number> {
    const { category, verified, q = '' } = query;
    if (verified || q !== '') return records.count(filter);
    return (await announced.countWithout(await optedOutHosts(context))).count({ category });
  }
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
