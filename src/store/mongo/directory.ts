import type { Filter, Sort } from 'mongodb';
import { ALL_GRADES } from '../../model/report.ts';
import type { DirectoryQuery, DirectoryRecord, DirectoryStore } from '../contract/directory.ts';
import { countsOf } from '../shared/grade-counts.ts';
import { hostSubstring } from '../shared/host-substring.ts';
import { publishedScanFromJson } from '../shared/published-scan.ts';
import type { MongoContext } from './context.ts';
import type { RecordDocument } from './documents.ts';
import { optedOutHosts, verifiedHosts, withOwnerPreferences } from './owner-preferences.ts';
import { readVersions } from './versions.ts';

const SORTS: Readonly<Record<DirectoryQuery['sort'], Sort>> = {
  recent: { scannedAtMs: -1, _id: 1 },
  grade: { grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
};

export function mongoDirectory(context: MongoContext): DirectoryStore {
  const { records } = context;
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
      const [optedOut, verified] = await Promise.all([
        optedOutHosts(context),
        query.verified ? verifiedHosts(context) : null,
      ]);
      const filter = directoryFilter({ ...query, q }, optedOut, verified);
      const count = await records.count(filter);
      const { sort, page, pageSize } = query;
      const skip = page * pageSize;
      if (skip >= count) return { count, records: [] };
      const options = { sort: SORTS[sort], skip, limit: pageSize };
      return { count, records: await listedOnly(context, await records.all(filter, options)) };
    },

    async grades() {
      const listed = notIn(await optedOutHosts(context));
      const counts = await Promise.all(
        ALL_GRADES.map(
          async (grade) => [grade, await records.count({ grade, ...listed })] as const,
        ),
      );
      const byGrade = new Map(counts);
      return countsOf((grade) => byGrade.get(grade) ?? 0);
    },

    async featured({ sinceMs, limit }) {
      const filter: Filter<RecordDocument> = {
        grade: 'A',
        scannedAtMs: { $gte: sinceMs },
        ...notIn(await optedOutHosts(context)),
      };
      const options = { sort: SORTS.recent, limit };
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
  if (q !== '') conditions.push({ _id: { $regex: literal(q) } });
  return { $and: conditions };
}

export function notIn(hosts: readonly string[]): Filter<RecordDocument> {
  return hosts.length > 0 ? { _id: { $nin: [...hosts] } } : {};
}

/** A pattern for exactly this text; `hostSubstring` left host characters only. */
function literal(q: string): string {
  return q.replaceAll(/[.[\]-]/g, '\\$&');
}
