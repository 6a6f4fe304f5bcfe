/** The contract suite on the shared store, and its indexes. */
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/open-store.ts';
import { publishedScan } from './contract/samples.ts';
import { storeContract } from './contract.ts';
import { dropDatabase, freshDatabase, mongoSubject, startServerForFile } from './mongo-subject.ts';

const server = await startServerForFile();

describe('on MongoDB', server.needed, () => {
  storeContract('the shared store', mongoSubject(server.uri));

  test('a start drops the indexes of older lists, and keeps all others', async () => {
    const url = freshDatabase(server.uri);
    const client = new MongoClient(url);
    const records = client.db().collection('records');
    const listNames = async () => (await records.indexes()).map(({ name }) => name).toSorted();
    try {
      await (await openStore(url)).close();
      const names = await listNames();
      await records.createIndex({ scannedAtMs: -1, _id: 1 });
      await records.createIndex({ category: 1, grade: 1, score: -1, scannedAtMs: -1, _id: 1 });
      await records.createIndex({ score: 1 }, { name: 'of_the_operator' });
      expect(await listNames()).toHaveLength(names.length + 3);
      const store = await openStore(url);
      await store.publish(publishedScan());
      expect((await store.directory.list({ sort: 'recent', page: 0, pageSize: 1 })).count).toBe(1);
      await store.close();
      expect(await listNames()).toEqual([...names, 'of_the_operator'].toSorted());
    } finally {
      await client.close();
      await dropDatabase(url);
    }
  });
});
