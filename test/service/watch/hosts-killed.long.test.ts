/** Two instances share a database. The test kills them again and again. */
import { afterAll, expect, test } from 'vitest';
import { startMongoServer } from '../../fixtures/mongo-server/mongo-server.ts';
import { dropDatabase, freshDatabase } from '../store/mongo-subject.ts';
import { playKills } from './kill-rig.ts';

const mongo = await startMongoServer();
afterAll(async () => {
  if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
});

test.skipIf(!('uri' in mongo))(
  'every event arrives in order although one of two instances is killed',
  async () => {
    if (!('uri' in mongo)) return;
    const storeUrl = freshDatabase(mongo.uri);
    try {
      const { events } = await playKills({ storeUrl, instances: 2, kills: 6, seed: 1 });
      expect(events).toBeGreaterThan(3);
    } finally {
      await dropDatabase(storeUrl);
    }
  },
  300_000,
);
