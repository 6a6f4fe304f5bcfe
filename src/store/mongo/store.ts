/** The shared store: connects and puts the parts together. */
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { newOwner } from '../contract/owner.ts';
import type { Store } from '../contract/store.ts';
import { StoreError } from '../contract/store-error.ts';
import type { OpenStoreOptions } from '../open-store-options.ts';
import { sharesOn } from '../shared/shares.ts';
import { mongoAnswers } from './answers.ts';
import { ChangeFeed } from './change-feed.ts';
import { mongoChanges } from './changes.ts';
import type { MongoContext } from './context.ts';
import { DatabaseClock } from './database-clock.ts';
import { mongoDirectory } from './directory.ts';
import { mongoError } from './error.ts';
import { mongoExports } from './exports.ts';
import { mongoHistory } from './history.ts';
import { mongoIdentifiers } from './identifiers.ts';
import { MongoInstances } from './instances.ts';
import { mongoLeases } from './leases.ts';
import { mongoLedger } from './ledger.ts';
import { mongoLimits } from './limits.ts';
import { mongoListing } from './listing.ts';
import { mongoOwnership } from './ownership.ts';
import { publishToMongo } from './publish.ts';
import { purgeMongo } from './purge.ts';
import { mongoResults } from './results.ts';
import { mongoSlots } from './slots.ts';
import { mongoSnapshots } from './snapshots.ts';
import { prepareDatabase, tablesOf } from './tables.ts';
import { badUrl, type MongoUrl, parseMongoUrl } from './url.ts';

const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
/** A server that took a request and says nothing for so long is gone. */
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
    return await storeOn(client, parsed, options);
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
      // Given here and not left to the URL: with w=0 a lost race would look like a won one, and
      // what a secondary has not heard of yet would be decided a second time.
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: MAJORITY_TIMEOUT_MS },
      readConcern: { level: 'majority' },
      readPreference: 'primary',
    });
  } catch (cause) {
    // The driver's own words may quote the URL.
    throw badUrl('is not understood by the database driver', cause);
  }
}

async function storeOn(
  client: MongoClient,
  { database: name, location }: MongoUrl,
  { owner = newOwner(), clock: given, timeScale = 1, onError = () => undefined }: OpenStoreOptions,
): Promise<Store> {
  let closed = false;
  const database = client.db(name);
  await prepareDatabase(database, location);
  const clock = new DatabaseClock(database, location, given, onError);
  await clock.start();
  const tables = tablesOf(database, { location, isClosed: () => closed });
  const context: MongoContext = {
    ...tables,
    owner,
    timeScale,
    now: clock.now,
    feed: new ChangeFeed(tables.changes),
  };
  const leases = mongoLeases(context);
  const slots = mongoSlots(context);
  const instances = new MongoInstances(context, leases, onError);

  return {
    info: { kind: 'mongodb', location, shared: true, owner },
    ledger: mongoLedger(context),
    answers: mongoAnswers(context),
    identifiers: mongoIdentifiers(context),
    results: mongoResults(context),
    directory: mongoDirectory(context),
    history: mongoHistory(context),
    exports: mongoExports(context),
    changes: mongoChanges(context),
    ownership: mongoOwnership(context, slots),
    slots,
    listing: mongoListing(context),
    leases,
    shares: sharesOn(slots),
    limits: mongoLimits(context),
    snapshots: mongoSnapshots(context),
    instances,
    now: clock.now,
    publish: (scan) => publishToMongo(context, scan),
    ping: () => ping(context, location),
    purge: (nowMs) => purgeMongo(context, nowMs),
    async close() {
      if (closed) return;
      clock.stop();
      // A lost database cannot be told that this instance leaves; the silence will tell the others.
      await instances.leave().catch((error: unknown) => onError('not left', error));
      closed = true;
      await client.close();
    },
  };
}

async function ping({ confirms }: MongoContext, location: string): Promise<void> {
  const timer = new AbortController();
  const late = delay(PING_TIMEOUT_MS, undefined, { signal: timer.signal }).then(() => {
    const message = `the database ${location} did not answer within ${PING_TIMEOUT_MS} ms: check that it runs and that this machine reaches it`;
    throw new StoreError('unavailable', message);
  });
  const answer = confirms.first({}, { projection: { _id: 1 } });
  try {
    await Promise.race([answer, late]);
  } finally {
    // The promise that settles second is no longer awaited, and must not count as unhandled.
    for (const loser of [answer, late]) loser.catch(() => undefined);
    timer.abort();
  }
}
