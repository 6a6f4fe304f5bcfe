import { type Db, MongoClient } from 'mongodb';
import { type EngineContext, RETENTION_MS } from '../context.ts';
import { newInstanceId } from '../payment-tables.ts';
import { slotsOn } from '../slots.ts';
import { type LimitStore, type OpenStoreOptions, type Store, storeOn } from '../store.ts';
import { type AnyTableSpec, joinId, openTables } from '../table.ts';
import { TABLES } from '../tables.ts';
import {
  createGuard,
  type Guard,
  type MongoUrl,
  parseMongoUrl,
  startClock,
  toBadUrlError,
  toStoreError,
  upsert,
} from './client.ts';
import { isInstanceAlive, MongoInstances } from './instances.ts';
import { type MongoContext, prepareDatabase, SHARING_TABLES } from './prepare.ts';
import { mongoLists } from './record-lists.ts';
import { mongoTable } from './table.ts';

const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
/** A server that does not answer a request for this long counts as gone. */
const SOCKET_TIMEOUT_MS = 60_000;
const MAJORITY_TIMEOUT_MS = 10_000;
const PING_TIMEOUT_MS = 3_000;

/**
 * The store that many instances share.
 * @throws StoreError `bad_url`, `unavailable` (within `connectTimeoutMs`), `incompatible`
 */
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
      // These are not left to the URL: with w=0 a lost race would look like a won one, and a read from
      // a secondary that lags behind would decide a race a second time.
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: MAJORITY_TIMEOUT_MS },
      readConcern: { level: 'majority' },
      readPreference: 'primary',
    });
  } catch (cause) {
    // The driver's own words may quote the URL.
    throw toBadUrlError('is not understood by the database driver', cause);
  }
}

async function assemble(
  client: MongoClient,
  { database: name, location }: MongoUrl,
  {
    owner = newInstanceId(),
    clock: given,
    timeScale = 1,
    onError = () => undefined,
  }: OpenStoreOptions,
): Promise<Store> {
  let closed = false;
  const database = client.db(name);
  await prepareDatabase(database, location);
  const clock = given ? null : await startClock(database, location, onError);
  const now = clock?.now ?? given ?? Date.now;
  const guard = createGuard(location, () => closed);
  const open = (spec: AnyTableSpec) => mongoTable(database, spec, guard);
  const tables = openTables(TABLES, open);
  const context: EngineContext = {
    tables,
    lists: mongoLists(database, guard, { tables, now }),
    owner,
    isAlive: (writer) => isInstanceAlive(own, writer),
    now,
  };
  const own: MongoContext = { ...openTables(SHARING_TABLES, open), owner, timeScale, now };
  const instances = new MongoInstances(own, slotsOn(context), onError);
  return storeOn(context, {
    info: { kind: 'mongodb', location },
    sharing: {
      limits: mongoLimits(database, guard, now),
      instances,
      async purge(nowMs) {
        const silent = { beatAtMs: { upTo: nowMs - RETENTION_MS.silentInstance } };
        const counters = await own.limits.removeInBatches({ resetAtMs: { upTo: nowMs } });
        return counters + (await own.instances.removeInBatches(silent));
      },
    },
    async ping() {
      await guard(() => database.command({ ping: 1 }, { timeoutMS: PING_TIMEOUT_MS }));
    },
    async close() {
      if (closed) return;
      clock?.stop();
      // Leaving fails when the database is lost; the others then see this instance as silent.
      await instances.leave().catch((error: unknown) => onError('not left', error));
      closed = true;
      await client.close();
    },
  });
}

type Counter = { readonly _id: string; readonly count: number; readonly resetAtMs: number };

/**
 * Request rates, counted together by all instances. A server without an atomic `$inc` loses some of the counts of
 * requests that race, and lets a few more through.
 */
function mongoLimits(database: Db, guard: Guard, now: () => number): LimitStore {
  // Each request would wait for a majority otherwise.
  const writeConcern = { w: 1, journal: false };
  const limits = database.collection<Counter>(SHARING_TABLES.limits.name, { writeConcern });
  return {
    async hit(key, windowMs) {
      const startMs = Math.floor(now() / windowMs) * windowMs;
      const resetAtMs = startMs + windowMs;
      const _id = joinId(key, startMs, windowMs);
      const update = { $inc: { count: 1 }, $set: { resetAtMs } };
      const options = { upsert: true, returnDocument: 'after' } as const;
      const hit = () => limits.findOneAndUpdate({ _id }, update, options);
      const counter = await guard(() => upsert(hit));
      return { count: counter?.count ?? 1, resetAtMs };
    },
  };
}
