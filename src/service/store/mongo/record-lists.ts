import type { Db, Filter, FindOptions, Sort } from 'mongodb';
import { ALL_GRADES } from '../../../scanner/model/report.ts';
import { toWeekDayPattern } from '../census.ts';
import type { DirectoryQuery, ListQuery, RecordLists, TablesContext } from '../context.ts';
import { findExcludedHosts } from '../exclusions.ts';
import { findOptedOutHosts, findVerifiedHosts } from '../owners.ts';
import { TABLES } from '../tables.ts';
import type { Guard } from './client.ts';
import type { StoredDocument } from './table.ts';

/** Each order has an index (`RECORD_INDEXES`). */
const SORTS: Readonly<Record<DirectoryQuery['sort'], Sort>> = {
  recent: { scannedAtMs: -1, _id: 1 },
  grade: { grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
  new: { firstSeenAtMs: -1, _id: 1 },
};

export function mongoLists(database: Db, guard: Guard, context: TablesContext): RecordLists {
  const records = database.collection<StoredDocument>(TABLES.records.name);
  const count = (filter: Filter<StoredDocument>) => guard(() => records.countDocuments(filter));
  const find = (filter: Filter<StoredDocument>, options: FindOptions) =>
    guard(() => records.find(filter, options).toArray());
  const findHosts = async (filter: Filter<StoredDocument>, options: FindOptions) =>
    (await find(filter, { ...options, projection: { _id: 1 } })).map(({ _id }) => _id);

  return {
    async list(query) {
      const [shown, verifiedHosts] = await Promise.all([
        filterShown(context),
        query.verified ? findVerifiedHosts(context) : null,
      ]);
      const filter = { $and: [shown, ...toConditions(query, verifiedHosts, context.now())] };
      const { sort, page, pageSize } = query;
      const range = { sort: SORTS[sort], skip: page * pageSize, limit: pageSize };
      const [matchCount, hosts] = await Promise.all([count(filter), findHosts(filter, range)]);
      return { count: matchCount, hosts };
    },

    async countByGrade() {
      const shownFilter = await filterShown(context);
      const counted = ALL_GRADES.map(
        async (grade) => [grade, await count({ grade, ...shownFilter })] as const,
      );
      return new Map(await Promise.all(counted));
    },

    /** Sorts here, because a cursor in the order of time could miss a host that is scanned during the read. */
    async findNewestHosts(limit) {
      const projection = { scannedAtMs: 1 };
      const rows = await find(await filterShown(context), { sort: { _id: 1 }, projection });
      return rows
        .map(({ _id, scannedAtMs }) => ({ host: _id, scannedAtMs: Number(scannedAtMs) }))
        .toSorted((a, b) => b.scannedAtMs - a.scannedAtMs || (a.host < b.host ? -1 : 1))
        .slice(0, limit)
        .map(({ host }) => host);
    },
  };
}

/** Selects the records that lists may show. MongoDB would read the document of each record to test a `$nor`. */
async function filterShown(context: TablesContext): Promise<Filter<StoredDocument>> {
  const optedOutHosts = await findOptedOutHosts(context);
  const excludedHosts = await findExcludedHosts(context);
  const whereOfCensus = { host: { in: excludedHosts }, paidBy: 'census' } as const;
  const withheldRecords =
    excludedHosts.length > 0 ? await context.tables.records.all(whereOfCensus) : [];
  const hiddenHosts = [...optedOutHosts, ...withheldRecords.map(({ host }) => host)];
  return { reached: true, ...(hiddenHosts.length > 0 && { _id: { $nin: hiddenHosts } }) };
}

/** @param verifiedHosts selects only these hosts; null selects hosts with and without a proof */
function toConditions(
  { category, q, grade, sinceMs, payable }: ListQuery,
  verifiedHosts: readonly string[] | null,
  nowMs: number,
): readonly Filter<StoredDocument>[] {
  return [
    ...(verifiedHosts === null ? [] : [{ _id: { $in: [...verifiedHosts] } }]),
    ...(category === undefined ? [] : [{ category }]),
    ...(q === '' ? [] : [{ _id: { $regex: escapePattern(q) } }]),
    ...(grade === undefined ? [] : [{ grade }]),
    ...(payable === 'today' ? [{ payableUntilMs: { $gt: nowMs } }] : []),
    ...(payable === 'week' ? [{ payableWeekDays: { $regex: toWeekDayPattern(nowMs) } }] : []),
    ...(sinceMs === undefined ? [] : [{ scannedAtMs: { $gte: sinceMs } }]),
  ];
}

/** Returns a pattern that matches exactly this text. The text has only characters that hosts may have. */
function escapePattern(q: string): string {
  return q.replaceAll(/[.[\]-]/g, '\\$&');
}
