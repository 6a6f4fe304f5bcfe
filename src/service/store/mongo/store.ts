import { type Db, type Filter, type FindOptions, MongoClient, type Sort } from 'mongodb';
import { ALL_GRADES } from '../../../scanner/model/report.ts';
import { toWeekDayPattern } from '../census.ts';
import {
  type DirectoryQuery,
  type EngineContext,
  type ListQuery,
  RETENTION_MS,
  type RecordLists,
  type TablesContext,
} from '../context.ts';
import { findExcludedHosts } from '../exclusions.ts';
import { createLeaseStore } from '../leases.ts';
import { findOptedOutHosts, findVerifiedHosts } from '../owners.ts';
import { newInstanceId } from '../payment-tables.ts';
import { createStore, type LimitStore, type OpenStoreOptions, type Store } from '../store.ts';
import { type AnyTableSpec, joinId, openTables } from '../table.ts';
import { TABLES } from '../tables.ts';
import {
  createGuard,
  type Guard,
  type MongoUrl,
  parseMongoUrl,
  retryUpsert,
  startClock,
  toBadUrlError,
  toStoreError,
} from './client.ts';
import { isInstanceAlive, MongoInstances } from './instances.ts';
import { prepareDatabase, SHARING_TABLES } from './prepare.ts';
import { createMongoTable, type StoredDocument } from './table.ts';

const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
/** A request fails if the server sends nothing for this long. */
const SOCKET_TIMEOUT_MS = 60_000;
const MAJORITY_TIMEOUT_MS = 10_000;
const PING_TIMEOUT_MS = 3_000;

/** @throws StoreError `bad_url`, `unavailable` (within `connectTimeoutMs`), `incompatible` */
export async function openMongo(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const parsed = parseMongoUrl(url);
  const client = newClient(url, options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS);
  try {
    return await assemble(client, parsed, options);
  } catch (cause) {
    await client.close();
    throw toStoreError(cause, parsed.location);
  }
}

function newClient(url: string, connectTimeoutMs: number): MongoClient {
  try {
    return new MongoClient(url, {
      appName: 'x402-conformance-scanner',
      serverSelectionTimeoutMS: connectTimeoutMs,
      connectTimeoutMS: connectTimeoutMs,
      socketTimeoutMS: SOCKET_TIMEOUT_MS,
      // The URL must not change these options. With w=0 a lost race would look like a won one. A read from a secondary
      // that lags behind could let a second writer win a race.
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: MAJORITY_TIMEOUT_MS },
      readConcern: { level: 'majority' },
      readPreference: 'primary',
    });
  } catch (cause) {
    // The message of the driver may quote the URL with its credentials.
    throw toBadUrlError('is not understood by the database driver', cause);
  }
}

async function assemble(
  client: MongoClient,
  { database: name, location }: MongoUrl,
  options: OpenStoreOptions,
): Promise<Store> {
  const { owner = newInstanceId(), clock: testClock, timeScale = 1 } = options;
  const { onError = () => undefined } = options;
  let isClosed = false;
  const database = client.db(name);
  await prepareDatabase(database, location);
  const { now, stop: stopClock } = testClock
    ? { now: testClock, stop: () => undefined }
    : await startClock(database, location, onError);
  const guard = createGuard(location, () => isClosed);
  const open = (spec: AnyTableSpec) => createMongoTable(database, spec, guard);
  const tables = openTables(TABLES, open);
  const sharingContext = { ...openTables(SHARING_TABLES, open), owner, timeScale, now };
  const context: EngineContext = {
    tables,
    lists: createMongoLists(database, guard, { tables, now }),
    owner,
    isAlive: (writer) => isInstanceAlive(sharingContext, writer),
    now,
  };
  const instances = new MongoInstances(sharingContext, createLeaseStore(context), onError);
  return createStore(context, {
    info: { kind: 'mongodb', location },
    sharing: {
      limits: createMongoLimits(database, guard, now),
      instances,
      async purge(nowMs) {
        const whereSilent = { beatAtMs: { upTo: nowMs - RETENTION_MS.silentInstance } };
        const whereEnded = { resetAtMs: { upTo: nowMs } };
        const counterCount = await sharingContext.limits.removeInBatches(whereEnded);
        return counterCount + (await sharingContext.instances.removeInBatches(whereSilent));
      },
    },
    async ping() {
      await guard(() => database.command({ ping: 1 }, { timeoutMS: PING_TIMEOUT_MS }));
    },
    async close() {
      if (isClosed) return;
      stopClock();
      // `leave` fails if the database is lost. Other instances then wait until this one counts as gone.
      await instances.leave().catch((error: unknown) => onError('not left', error));
      isClosed = true;
      await client.close();
    },
  });
}

type Counter = { readonly _id: string; readonly count: number; readonly resetAtMs: number };

/** A server without an atomic `$inc` loses some counts of racing requests, and then a few more are admitted. */
function createMongoLimits(database: Db, guard: Guard, now: () => number): LimitStore {
  // With the usual write concern, each request would wait until a majority of the servers has stored its count.
  const writeConcern = { w: 1, journal: false };
  const limits = database.collection<Counter>(SHARING_TABLES.limits.name, { writeConcern });
  return {
    async hit(key, windowMs) {
      const startMs = Math.floor(now() / windowMs) * windowMs;
      const resetAtMs = startMs + windowMs;
      const _id = joinId(key, startMs, windowMs);
      const update = { $inc: { count: 1 }, $set: { resetAtMs } };
      const options = { upsert: true, returnDocument: 'after' } as const;
      const increment = () => limits.findOneAndUpdate({ _id }, update, options);
      const counter = await guard(() => retryUpsert(increment));
      return { count: counter?.count ?? 1, resetAtMs };
    },
  };
}

/** Each order has an index (`RECORD_INDEXES`). */
const SORTS: Readonly<Record<DirectoryQuery['sort'], Sort>> = {
  recent: { scannedAtMs: -1, _id: 1 },
  grade: { grade: 1, score: -1, scannedAtMs: -1, _id: 1 },
  new: { firstSeenAtMs: -1, _id: 1 },
};

function createMongoLists(database: Db, guard: Guard, context: TablesContext): RecordLists {
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
      // The sort is stable, so hosts that were scanned at the same time stay in the order of their names.
      const newestFirst = rows.toSorted(
        (a, b) => Number(b['scannedAtMs']) - Number(a['scannedAtMs']),
      );
      return newestFirst.slice(0, limit).map(({ _id }) => _id);
    },
  };
}

/** Selects the records that lists may show. Uses `$nin`: MongoDB would read each record's document for a `$nor`. */
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
