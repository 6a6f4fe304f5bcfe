/** Counts of the shared store, as several instances add them up. */
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, describe, expect, it } from 'vitest';
import type { Grade } from '../../src/model/report.ts';
import { AnnouncedHosts } from '../../src/store/mongo/announced-hosts.ts';
import type { ChangeDocument } from '../../src/store/mongo/documents.ts';
import { prepareDatabase, type Tables, tablesOf } from '../../src/store/mongo/tables.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { publishedScan } from './contract/samples.ts';
import { dropDatabase, freshDatabase } from './mongo-subject.ts';

const server = await startMongoServer();
const uri = 'uri' in server ? server.uri : '';

describe('on MongoDB', needs('uri' in server ? null : server.unavailable), () => {
  afterAll(async () => {
    if ('uri' in server) await server[Symbol.asyncDispose]();
  });

  it('a new process begins at the counts that another one kept, and needs no change before', async () => {
    await using database = await openTables();
    await database.insert(changes(1, 1_200, 'B'));
    const first = new AnnouncedHosts(database.tables);
    expect(await first.follow()).toBe(1_200);
    expect((await first.countWithout([])).count({})).toBe(1_200);

    await database.tables.changes.remove({ n: { $lte: 1_200 } });
    await database.insert(changes(1_201, 3, 'A'));
    const second = new AnnouncedHosts(database.tables);
    const counts = await second.countWithout(['host-1202.example.com']);
    expect([counts.count({ grade: 'B' }), counts.count({ grade: 'A' })]).toEqual([1_200, 2]);
    expect(counts.count({ category: 'data' })).toBe(1_202);
    expect(counts.count({ category: 'media' })).toBe(0);
    expect((await first.countWithout([])).count({})).toBe(1_203);
  });

  it('counts a search anew once another instance publishes, or an owner hides a host', async () => {
    const url = freshDatabase(uri);
    const [one, other] = [await openStore(url), await openStore(url)];
    try {
      const count = async (q: string) => (await one.directory.list({ ...QUERY, q })).count;
      await other.publish(publishedScan({ host: 'a.example.com' }));
      expect(await count('example')).toBe(1);
      await other.publish(publishedScan({ host: 'b.example.com' }));
      expect([await count('example'), await count('b.ex'), await count('c.ex')]).toEqual([2, 1, 0]);
      await other.listing.set('a.example.com', { listed: false });
      expect(await count('example')).toBe(1);
      expect(await count('EXAMPLE')).toBe(1);
    } finally {
      for (const store of [one, other]) await store.close();
      await dropDatabase(url);
    }
  });

  it('two instances that publish and hide at once agree with counting by hand', async () => {
    const url = freshDatabase(uri);
    const stores = [await openStore(url), await openStore(url)] as const;
    try {
      await Promise.all(stores.map((store, index) => work(store, index)));
      const hosts = Array.from({ length: 6 }, (_, n) => `h${n}.example.com`);
      const records = await Promise.all(hosts.map((host) => stores[0].directory.get(host)));
      const listed = records.filter((record) => record?.listed);
      for (const { directory } of stores) {
        for (const q of ['', 'example']) {
          const { count, records: page } = await directory.list({ ...QUERY, q });
          expect([count, page.length]).toEqual([listed.length, listed.length]);
        }
        const grades = await directory.grades();
        expect(grades.A).toBe(listed.filter((record) => record?.grade === 'A').length);
      }
    } finally {
      for (const store of stores) await store.close();
      await dropDatabase(url);
    }
  });
});

const QUERY = { sort: 'recent', page: 0, pageSize: 100 } as const;

async function work(store: Awaited<ReturnType<typeof openStore>>, index: number): Promise<void> {
  const grades: readonly Grade[] = ['A', 'B', 'F'];
  for (let n = 0; n < 12; n += 1) {
    const host = `h${(n * 5 + index) % 6}.example.com`;
    const grade = grades[(n + index) % 3] ?? 'A';
    const asked = store.directory.list({ ...QUERY, q: n % 2 ? '' : 'example' });
    await store.publish(publishedScan({ host, grade, scannedAtMs: 1_000 + n }));
    if (n % 4 === index) await store.listing.set(host, { listed: n % 8 > 3 });
    await asked;
  }
}

function changes(from: number, count: number, grade: Grade): readonly ChangeDocument[] {
  return Array.from({ length: count }, (_, index) => ({
    _id: String(from + index),
    n: from + index,
    attempt: randomUUID(),
    scanId: randomUUID(),
    changeType: 'new',
    changedAtMs: from + index,
    host: `host-${from + index}.example.com`,
    grade,
    score: 80,
    checksVersion: '2026-08-14.2',
    previousGrade: null,
    previousScore: null,
    category: 'data',
    previousCategory: null,
  }));
}

async function openTables() {
  const url = freshDatabase(uri);
  const client = new MongoClient(url);
  await prepareDatabase(client.db(), 'a test');
  const tables: Tables = tablesOf(client.db(), { location: 'a test', isClosed: () => false });
  return {
    tables,
    insert: async (rows: readonly ChangeDocument[]) => {
      await tables.changes.use((collection) => collection.insertMany([...rows]));
    },
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await dropDatabase(url);
    },
  };
}
