/** Stores that earlier programs wrote are opened and served. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { MongoClient } from 'mongodb';
import { afterAll, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/contract/store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { collect, issuedToken, ledgerStep, publishedScan } from './contract/samples.ts';
import { dropDatabase, freshDatabase } from './mongo-subject.ts';

const RECORDINGS = join(import.meta.dirname, '../fixtures/store');
const NOW_MS = Date.UTC(2026, 10, 22, 12);
const clock = () => NOW_MS + 10_000;

describe('an embedded store of schema 8', () => {
  it('is opened, serves what it has, and goes on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    try {
      const path = join(folder, 'scanner.db');
      writeFileSync(path, gunzipSync(readFileSync(join(RECORDINGS, 'scanner-8.db.gz'))));
      await serves(`sqlite:${path}`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('an embedded store of a program with fewer tables', () => {
  it('gets those that are missing when it is opened', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    try {
      const path = join(folder, 'scanner.db');
      await (await openStore(`sqlite:${path}`)).close();
      const file = new DatabaseSync(path);
      file.exec('DROP TABLE snapshots; DROP INDEX "slots group"');
      file.close();
      const store = await openStore(`sqlite:${path}`, { clock });
      await store.snapshots.put({ source: 's', key: 'k', takenAtMs: NOW_MS, data: {} });
      expect(await store.snapshots.get('s', 'k')).toMatchObject({ data: {} });
      await store.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('an embedded store of schema 12', () => {
  it('loses the table that nothing reads, and keeps its rows of others', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    const path = join(folder, 'scanner.db');
    try {
      const first = await openStore(`sqlite:${path}`, { clock });
      await first.snapshots.put({ source: 's', key: 'k', takenAtMs: NOW_MS, data: 1 });
      await first.close();
      const before = new DatabaseSync(path);
      before.exec('CREATE TABLE verdicts (host TEXT PRIMARY KEY); PRAGMA user_version = 12');
      before.close();
      const store = await openStore(`sqlite:${path}`, { clock });
      expect((await store.snapshots.get('s', 'k'))?.data).toBe(1);
      await store.close();
      const after = new DatabaseSync(path);
      const named = after.prepare("SELECT name FROM sqlite_schema WHERE name = 'verdicts'");
      expect(named.all()).toEqual([]);
      after.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('an embedded store of a program with fewer columns', () => {
  it('gets those that are missing, and keeps its rows', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    const path = join(folder, 'scanner.db');
    const host = 'api.example.com';
    try {
      const first = await openStore(`sqlite:${path}`, { clock });
      await first.publish(publishedScan({ host, scannedAtMs: NOW_MS, payableBy: 'default' }));
      await first.close();
      const file = new DatabaseSync(path);
      file.exec('ALTER TABLE history DROP COLUMN payableBy');
      file.close();
      const store = await openStore(`sqlite:${path}`, { clock });
      const later = publishedScan({ host, scannedAtMs: NOW_MS + 1, payableBy: 'nobody' });
      await store.publish(later);
      const history = await store.history.list(host);
      expect(history.map(({ payableBy }) => payableBy)).toEqual([undefined, 'nobody']);
      await store.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

const server = await startMongoServer();

describe('a database of schema 1', needs('uri' in server ? null : server.unavailable), () => {
  afterAll(async () => {
    if ('uri' in server) await server[Symbol.asyncDispose]();
  });

  it('is opened, serves what it has, and goes on', async () => {
    const url = freshDatabase('uri' in server ? server.uri : '');
    await restore(url);
    try {
      await serves(url);
    } finally {
      await dropDatabase(url);
    }
  });
});

async function serves(url: string): Promise<void> {
  const store = await openStore(url, { clock });
  try {
    await servesDirectory(store);
    await servesPayments(store);
    await goesOn(store);
  } finally {
    await store.close();
  }
}

async function servesDirectory({ directory, history, changes, ownership, listing }: Store) {
  const { count, records } = await directory.list({ sort: 'recent', page: 0, pageSize: 9 });
  const hosts = ['a.example.com', 'bare.example.com', 'b.example.com'];
  expect([count, records.map(({ host }) => host)]).toEqual([3, hosts]);
  expect(records.map((record) => record.enrichmentSuppressed)).toEqual([false, true, false]);
  expect(records.map((record) => record.verified)).toEqual([false, false, true]);
  expect(await directory.grades()).toMatchObject({ A: 1, B: 2 });
  expect(await directory.get('a.example.com')).toMatchObject({ scanCount: 2, score: 95 });
  expect(await directory.get('hidden.example.com')).toMatchObject({ listed: false });
  expect((await listing.get('hidden.example.com')).keyed).toEqual({ listed: 'key hash' });
  expect(await history.list('a.example.com')).toHaveLength(2);
  expect((await changes.list({ sinceMs: 0, limit: 9 })).changes.map(({ n }) => n)).toEqual([
    1, 2, 4, 5,
  ]);
  expect(await ownership.lastConfirm('b.example.com')).toMatchObject({ tokenHash: 'token-b' });
  expect((await ownership.liveTokens('a.example.com')).map((token) => token.tokenHash)).toEqual([
    'live',
  ]);
}

async function servesPayments({ ledger, answers, results, identifiers, snapshots }: Store) {
  const sold = await ledger.entry('sold');
  expect([sold?.last.state, sold?.rows.length, sold?.writtenAtMs]).toEqual([
    'published',
    5,
    expect.any(Number),
  ]);
  const open = await collect(ledger.unfinished());
  expect(open.map(({ key, rows }) => [key, rows.length])).toEqual([['open', 4]]);
  const answer = await answers.get('answer-1');
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
  const body = answer === null ? [] : await collect(answer.body());
  expect(Buffer.concat(body).toString()).toBe('{"paid":true}');
  expect(await results.byScan('again')).toBeNull();
  expect((await results.published('b.example.com'))?.scanId).toBe('scan-b.example.com');
  expect((await results.waiting('w.example.com', 0))?.scanId).toBe('waiting');
  expect(await results.unpaid('0xdebtor', 0)).toMatchObject([{ scanId: 'waiting', isDebt: true }]);
  const scope = { network: 'eip155:8453', payer: '0xpayer', id: 'order-0000000000001' };
  expect(await identifiers.chain(scope, 9)).toMatchObject([{ n: 1, key: 'sold' }]);
  expect((await snapshots.get('s', 'k'))?.data).toEqual({ a: 1 });
}

async function goesOn(store: Store): Promise<void> {
  await store.publish(publishedScan({ host: 'a.example.com', scannedAtMs: NOW_MS, grade: 'F' }));
  expect(await store.directory.get('a.example.com')).toMatchObject({ scanCount: 3, grade: 'F' });
  const { changes } = await store.changes.list({ sinceMs: 0, limit: 9 });
  expect(changes.at(-1)).toMatchObject({ n: 6, changeType: 'grade_changed', previousGrade: 'A' });
  expect(await store.ledger.append(ledgerStep('open', 7, 'failed'))).toBe('won');
  expect(await collect(store.ledger.unfinished())).toEqual([]);
  await store.listing.set('hidden.example.com', { listed: true });
  await store.ownership.recordConfirm('a.example.com', issuedToken('token-a'));
  const verified = { sort: 'recent', verified: true, page: 0, pageSize: 9 } as const;
  expect((await store.directory.list(verified)).count).toBe(3);
  await store.purge(NOW_MS + 3 * 24 * 3_600_000);
  expect(await store.answers.get('answer-1')).toBeNull();
}

async function restore(url: string): Promise<void> {
  const client = new MongoClient(url);
  const recorded: Record<string, { _id: string; bytes?: unknown }[]> = JSON.parse(
    readFileSync(join(RECORDINGS, 'database-1.json'), 'utf8'),
  );
  for (const [name, rows] of Object.entries(recorded)) {
    const documents = rows.map((row) =>
      row.bytes === undefined ? row : { ...row, bytes: Buffer.from('{"paid":true}') },
    );
    await client.db().collection<{ _id: string }>(name).insertMany(documents);
  }
  await client.close();
}
