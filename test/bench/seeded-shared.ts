/** The same seeded directory in a shared store. */
import { MongoClient } from 'mongodb';
import type * as documents from '../../src/store/mongo/documents.ts';
import { type Tables, tablesOf } from '../../src/store/mongo/tables.ts';
import { openStore } from '../../src/store/open-store.ts';
import { publishedScanToJson } from '../../src/store/shared/published-scan.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import type { SeededStore } from './seeded-directory.ts';
import {
  type DirectorySeed,
  hiddenBy,
  ownersOf,
  type SeededHost,
  seededHosts,
} from './seeded-hosts.ts';

const BATCH = 1_000;

/** On MONGODB_URI, or on the server that the tests build. */
export async function openSeededShared(seed: DirectorySeed): Promise<SeededStore> {
  const server = await startMongoServer();
  if (!('uri' in server)) throw new Error(server.unavailable);
  const store = await openStore(server.uri, { clock: () => seed.nowMs });
  const client = new MongoClient(server.uri);
  const tables = tablesOf(client.db(), { location: 'the seeded store', isClosed: () => false });
  const batch: SeededHost[] = [];
  for (const host of seededHosts(seed)) {
    batch.push(host);
    if (batch.length === BATCH) await insertHosts(tables, batch.splice(0));
  }
  if (batch.length > 0) await insertHosts(tables, batch);
  await client.close();
  return {
    store,
    bytes: null,
    clock: () => performance.now(),
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function insertHosts(tables: Tables, hosts: readonly SeededHost[]): Promise<void> {
  await tables.records.use((records) => records.insertMany(hosts.map(toRecord)));
  await tables.changes.use((changes) => changes.insertMany(hosts.map(toChange)));
  const confirms = hosts.flatMap((host) =>
    ownersOf(host).map(({ confirmedAtMs }) => ({
      _id: host.scan.host,
      atMs: confirmedAtMs,
      tokenHash: 'token',
      keyHash: 'key',
      client: 'client',
    })),
  );
  if (confirms.length > 0) await tables.confirms.use((rows) => rows.insertMany(confirms));
  for (const { scan, ...host } of hosts.map((one) => ({ ...one, settings: hiddenBy(one) }))) {
    for (const setting of host.settings) {
      const value = setting !== 'listed';
      const row = { setting, host: scan.host, value, atMs: scan.scannedAtMs, keyedBy: null };
      await tables.listing.replace({ _id: JSON.stringify([setting, scan.host]), ...row });
    }
  }
}

function toRecord({ scan }: SeededHost): documents.RecordDocument {
  const { host, scanId, scannedAtMs, grade, score, branding } = scan;
  return {
    _id: host,
    scanId,
    scannedAtMs,
    grade,
    score,
    category: branding.category,
    firstSeenAtMs: scannedAtMs,
    scanCount: 1,
    scan: publishedScanToJson(scan),
  };
}

function toChange({ n, scan }: SeededHost): documents.ChangeDocument {
  const { host, scanId, grade, score, checksVersion } = scan;
  return {
    _id: String(n + 1),
    n: n + 1,
    attempt: scanId,
    scanId,
    changeType: 'new',
    changedAtMs: n + 1,
    host,
    grade,
    score,
    checksVersion,
    previousGrade: null,
    previousScore: null,
  };
}
