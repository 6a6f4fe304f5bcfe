/** The directory on MongoDB. */
import type { Filter, Sort } from 'mongodb';
import type { DirectoryQuery, DirectoryRecord, DirectoryStore } from '../contract/directory.ts';
import { countsOf } from '../shared/grade-counts.ts';
import { hostSubstring, ngramsOfSubstring } from '../shared/host-ngrams.ts';
import { publishedScanFromJson } from '../shared/published-scan.ts';
import type { MongoContext } from './context.ts';
import type { RecordDocument } from './documents.ts';
import { KeptCounts } from './kept-counts.ts';
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
  const keptCounts = new KeptCounts(context);
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
      const q = hostSubstring(query.q ?? '');
      if (q === null) return { count: 0, records: [] };
      const state = query.verified || q !== '' ? await keptCounts.state() : null;
      const [optedOut, verified] = await Promise.all([
        optedOutHosts(context),
        query.verified ? verifiedHosts(context) : null,
      ]);
      const filter = directoryFilter({ ...query, q }, optedOut, verified);
      const count =
        state === null
          ? (await announced.countWithout(optedOut)).count({ category: query.category })
          : await keptCounts.count(query, filter, state);
      const { sort, page, pageSize } = query;
      const skip = page * pageSize;
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
}

/** Owners are asked again after the rows were read: one may have opted out meanwhile. */
export async function listedOnly(
  context: MongoContext,
  found: readonly RecordDocument[],
): Promise<readonly DirectoryRecord[]> {
  return (await withOwnerPreferences(context, found)).filter((record) => record.listed);
}

/** `q` as hosts are spelt; `verified`: the only hosts that are wanted, if not all. */
function directoryFilter(
  { category, q = '' }: DirectoryQuery,
  optedOut: readonly string[],
  verified: readonly string[] | null,
): Filter<RecordDocument> {
  const conditions: Filter<RecordDocument>[] = [notIn(optedOut)];
  if (verified !== null) conditions.push({ _id: { $in: [...verified] } });
  if (category !== undefined) conditions.push({ category });
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
