import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MongoClient, MongoServerError } from 'mongodb';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { needs } from '../needs.ts';
import { startMongoServer } from './mongo-server.ts';

const run = promisify(execFile);
const DUPLICATE_KEY = 11000;
const RACERS = 100;

const server = await startMongoServer();

describe(
  'the MongoDB server of the tests',
  needs('uri' in server ? null : server.unavailable),
  () => {
    // Unreached when skipped; the empty address would fail every test below.
    const { uri, process: own } = 'uri' in server ? server : { uri: '' };
    const client = new MongoClient(uri || 'mongodb://unavailable');
    const rows = client.db().collection<{ _id: number; by: string }>('rows');

    afterAll(async () => {
      await client.close();
      if ('uri' in server) await server.stop();
    });

    test('is shared by two processes', async () => {
      await rows.insertOne({ _id: 1, by: 'this process' });
      const script = `
      import { MongoClient } from 'mongodb';
      const client = new MongoClient(process.argv[1]);
      const rows = client.db().collection('rows');
      console.log((await rows.findOne({ _id: 1 })).by);
      await rows.insertOne({ _id: 2, by: 'the other' });
      await client.close();`;
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script, uri]);
      expect(stdout.trim()).toBe('this process');
      expect(await rows.findOne({ _id: 2 })).toEqual({ _id: 2, by: 'the other' });
    });

    test('lets exactly one of a hundred racing inserts have a unique key', async () => {
      const steps = client
        .db()
        .collection<{ payment: string; step: number; attempt: number }>('steps');
      await steps.createIndex({ payment: 1, step: 1 }, { unique: true });
      for (const payment of ['a', 'b', 'c']) {
        const outcomes = await Promise.all(
          Array.from({ length: RACERS }, (_, attempt) =>
            steps.insertOne({ payment, step: 1, attempt }).then(
              () => attempt,
              (error: unknown) => (error instanceof MongoServerError ? error.code : error),
            ),
          ),
        );
        const winners = outcomes.filter((outcome) => outcome !== DUPLICATE_KEY);
        expect(winners).toHaveLength(1);
        expect(await steps.find({ payment }).toArray()).toMatchObject([{ attempt: winners[0] }]);
      }
    });

    test.skipIf(own === undefined)('keeps what it acknowledged when it is killed', async () => {
      const acknowledged: number[] = [];
      for (let id = 1_000; id < 1_050; id++) {
        await rows.insertOne(
          { _id: id, by: 'a writer' },
          { writeConcern: { w: 'majority', j: true } },
        );
        acknowledged.push(id);
      }
      await own?.kill();
      const impatient = new MongoClient(uri, { serverSelectionTimeoutMS: 500 });
      await expect(impatient.db().command({ ping: 1 })).rejects.toThrow();
      await impatient.close();

      await own?.restart();
      const found = await rows.find({ _id: { $gte: 1_000 } }, { sort: { _id: 1 } }).toArray();
      expect(found.map(({ _id }) => _id)).toEqual(acknowledged);
    });
  },
);

describe('a machine without Go and without MONGODB_URI', () => {
  afterEach(() => vi.unstubAllEnvs());

  test('says what it lacks, and fails where the server is required', async () => {
    vi.stubEnv('PATH', '/nonexistent');
    vi.stubEnv('MONGODB_URI', '');
    vi.stubEnv('REQUIRE_MONGODB', '');
    expect(await startMongoServer()).toEqual({ unavailable: expect.stringContaining('"go"') });
    vi.stubEnv('REQUIRE_MONGODB', '1');
    await expect(startMongoServer()).rejects.toThrow('REQUIRE_MONGODB=1');
  });
});
