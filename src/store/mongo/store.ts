import { MongoClient } from 'mongodb';
import type { EngineContext } from '../context.ts';
import { leasesOn } from '../leases.ts';
import { openTables } from '../open-tables.ts';
import { newOwner } from '../payment-tables.ts';
import { RETENTION_MS } from '../retention.ts';
import type { OpenStoreOptions } from '../store.ts';
import { type Store, storeOn } from '../store.ts';
import type { AnyTableSpec } from '../table.ts';
import { TABLES } from '../tables.ts';
import {
  badUrl,
  createGuard,
  type MongoUrl,
  mongoError,
  parseMongoUrl,
  startClock,
} from './client.ts';
import { MongoInstances, ownerLives } from './instances.ts';
import { mongoLimits } from './limits.ts';
import { type MongoContext, OWN_TABLES, prepareDatabase } from './prepare.ts';
import { mongoLists } from './record-lists.ts';
import { mongoTable } from './table.ts';

const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
/** A server that does not answer a request for this long counts as gone. */
const SOCKET_TIMEOUT_MS = 60_000;
const MAJORITY_TIMEOUT_MS = 10_000;
const PING_TIMEOUT_MS = 3_000;

/**
 * The store that many hosts share.
 * @throws StoreError `bad_url`, `unavailable` (within `connectTimeoutMs`), `incompatible`
 */
export async function openMongo(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const parsed = parseMongoUrl(url);
  const client = newClient(url, options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS);
  try {
    return await assemble(client, parsed, options);
  } catch (cause) {
    await client.close();
    throw mongoError(cause, parsed.location);
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
    throw badUrl('is not understood by the database driver', cause);
  }
}

async function assemble(
  client: MongoClient,
  { database: name, location }: MongoUrl,
  { owner = newOwner(), clock: given, timeScale = 1, onError = () => undefined }: OpenStoreOptions,
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
    isAlive: (writer) => ownerLives(own, writer),
    now,
  };
  const own: MongoContext = { ...openTables(OWN_TABLES, open), owner, timeScale, now };
  const instances = new MongoInstances(own, leasesOn(context), onError);
  return storeOn(context, {
    info: { kind: 'mongodb', location, shared: true },
    sharing: {
      limits: mongoLimits(database, guard, now),
      instances,
      async purge(nowMs) {
        const silent = { beatAtMs: { upTo: nowMs - RETENTION_MS.silentHost } };
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
