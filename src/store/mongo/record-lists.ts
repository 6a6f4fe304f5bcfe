import type { Db, Filter, FindOptions, Sort } from 'mongodb';
import { ALL_GRADES } from '../../model/report.ts';
import { toWeekDaysEntry } from '../census.ts';
import type { DirectoryQuery, ListQuery, RecordLists, StoreContext } from '../context.ts';
import { findOptedOutHosts, findVerifiedHosts } from '../owners.ts';
import { TABLES } from '../tables.ts';
import type { Guard } from './client.ts';
import type { StoredDocument } from './table.ts';

const SORTS: Readonly<Record<DirectoryQuery['sort'], Sort>> = {
  recent: { scannedAtMs: -1, _id: 1 },
  grade: { grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
};

type ListsContext = Pick<StoreContext, 'tables' | 'now'>;

export function mongoLists(database: Db, guard: Guard, context: ListsContext): RecordLists {
  const records = database.collection<StoredDocument>(TABLES.records.name);
  const count = (filter: Filter<StoredDocument>) => guard(() => records.countDocuments(filter));
  const find = (filter: Filter<StoredDocument>, options: FindOptions) =>
    guard(() => records.find(filter, options).toArray());
  const findHosts = async (filter: Filter<StoredDocument>, options: FindOptions) =>
    (await find(filter, { ...options, projection: { _id: 1 } })).map(({ _id }) => _id);

  return {
    async list(query) {
      const [shown, verified] = await Promise.all([
        shownRecords(context),
        query.verified ? findVerifiedHosts(context) : null,
      ]);
      const filter = { $and: [shown, ...conditionsOf(query, verified, context.now())] };
      const matches = await count(filter);
      const { sort, page, pageSize } = query;
      const skip = page * pageSize;
      if (skip >= matches) return { count: matches, hosts: [] };
      const hosts = await findHosts(filter, { sort: SORTS[sort], skip, limit: pageSize });
      return { count: matches, hosts };
    },

    async countByGrade() {
      const shown = await shownRecords(context);
      const counted = ALL_GRADES.map(
        async (grade) => [grade, await count({ grade, ...shown })] as const,
      );
      return new Map(await Promise.all(counted));
    },

    /**
     * Read in the order of `_id`, which never changes, and sorted here: a cursor in the order of time
     * would pass by a host that is scanned anew meanwhile.
     */
    async findNewestHosts(limit) {
      const projection = { scannedAtMs: 1 };
      const page = await find(await shownRecords(context), { sort: { _id: 1 }, projection });
      return page
        .map(({ _id, scannedAtMs }) => ({ host: _id, scannedAtMs: Number(scannedAtMs) }))
        .toSorted((a, b) => b.scannedAtMs - a.scannedAtMs || (a.host < b.host ? -1 : 1))
        .slice(0, limit)
        .map(({ host }) => host);
    },
  };
}

async function shownRecords(context: ListsContext): Promise<Filter<StoredDocument>> {
  const optedOut = await findOptedOutHosts(context);
  const reached = { reached: true };
  return optedOut.length > 0 ? { ...reached, _id: { $nin: [...optedOut] } } : reached;
}

/** `verified`: the only hosts that are wanted, if not all. */
function conditionsOf(
  { category, q, grade, sinceMs, payable }: ListQuery,
  verified: readonly string[] | null,
  nowMs: number,
): readonly Filter<StoredDocument>[] {
  return [
    ...(verified === null ? [] : [{ _id: { $in: [...verified] } }]),
    ...(category === undefined ? [] : [{ category }]),
    ...(q === '' ? [] : [{ _id: { $regex: literal(q) } }]),
    ...(grade === undefined ? [] : [{ grade }]),
    ...(payable === 'today' ? [{ payableUntilMs: { $gt: nowMs } }] : []),
    ...(payable === 'week' ? [{ payableWeekDays: { $regex: toWeekDaysEntry(nowMs) } }] : []),
    ...(sinceMs === undefined ? [] : [{ scannedAtMs: { $gte: sinceMs } }]),
  ];
}

/** A pattern for exactly this text; `hostSubstring` left host characters only. */
function literal(q: string): string {
  return q.replaceAll(/[.[\]-]/g, '\\$&');
}
