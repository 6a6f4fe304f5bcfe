import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach } from 'vitest';
import { type StoredDocument, toDocument } from '../../../src/service/store/mongo/table.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { publishedScanToJson } from '../../../src/service/store/published-scan.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { TABLES } from '../../../src/service/store/tables.ts';
import { startMongoServer } from '../../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../../fixtures/needs.ts';
import { publishedScan } from './contract/samples.ts';
import type { ContractSubject } from './contract/subject.ts';

/**
 * Starts the server of a test file, and stops it after the tests. Suites with the options `needed` are skipped if there
 * is no server; `uri` is then empty.
 */
export async function startServerForFile() {
  const server = await startMongoServer();
  if (!('uri' in server)) {
    const { unavailable } = server;
    return { uri: '', unavailable, process: undefined, needed: needs(unavailable) };
  }
  afterAll(() => server[Symbol.asyncDispose]());
  return { uri: server.uri, unavailable: null, process: server.process, needed: needs(null) };
}

/** Stores in databases of their own on one server, dropped after each test. */
export function mongoSubject(uri: string): ContractSubject {
  const opened: { store: Store; url: string }[] = [];

  afterEach(async () => {
    const used = opened.splice(0);
    for (const { store } of used) await store.close();
    for (const url of new Set(used.map((each) => each.url))) await dropDatabase(url);
  });

  const open = async (url: string, options: Parameters<typeof openStore>[1]): Promise<Store> => {
    const store = await openStore(url, options);
    opened.push({ store, url });
    return store;
  };

  return {
    operations: 150,
    fresh: (options) => open(freshDatabase(uri), options),
    async restart(store, options) {
      const url = opened.find((each) => each.store === store)?.url;
      if (url === undefined) throw new Error('that store was not opened here');
      await store.close();
      return open(url, options);
    },
    async seedHistory(store, host, rows, firstMs) {
      const url = opened.find((each) => each.store === store)?.url ?? '';
      await insertHistory(url, host, rows, firstMs);
    },
  };
}

/** Inserts the rows of many publications in one request, since publishing them takes a minute. */
async function insertHistory(
  url: string,
  host: string,
  rows: number,
  firstMs: number,
): Promise<void> {
  const documents = Array.from({ length: rows }, (_, index) => {
    const { scanId, scannedAtMs, grade, score, checksVersion, ...rest } = publishedScan({
      host,
      scannedAtMs: firstMs + index,
    });
    const row = { scanId, scannedAtMs, grade, score, checksVersion };
    return toDocument(TABLES.history, {
      ...row,
      attempt: scanId,
      host,
      seq: index + 1,
      scan: publishedScanToJson({ ...row, ...rest }),
      payableBy: null,
    });
  });
  const client = new MongoClient(url);
  await client.db().collection<StoredDocument>('history').insertMany(documents);
  await client.close();
}

/** Returns the URL of an unused database on the same server, with the same options. */
export function freshDatabase(uri: string): string {
  return uri.replace(
    /^(mongodb[^/]*\/\/[^/?]+)(?:\/[^?]*)?/,
    `$1/x402_test_${randomBytes(6).toString('hex')}`,
  );
}

export async function dropDatabase(url: string): Promise<void> {
  const client = new MongoClient(url);
  await client.db().dropDatabase();
  await client.close();
}
