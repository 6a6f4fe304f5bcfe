/** Two instances on one database fold the same days. */
import { describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/open-store.ts';
import { utcDay } from '../../../src/service/store/statistics.ts';
import { publishedScan } from './contract/samples.ts';
import { DAY_MS, TestClock } from './contract/test-clock.ts';
import { dropDatabase, freshDatabase, startServerForFile } from './mongo-subject.ts';

const HOST_COUNT = 12;

const server = await startServerForFile();

describe('two instances on one database', server.needed, () => {
  test('count each host once a day while both instances publish, fold and read', async () => {
    const url = freshDatabase(server.uri);
    const clock = new TestClock();
    const stores = await Promise.all([1, 2].map(() => openStore(url, { clock: clock.now })));
    try {
      for (let round = 1; round <= 4; round += 1) {
        const scannedAtMs = clock.now();
        const publishing = Array.from({ length: HOST_COUNT }, (_, n) => {
          const host = `h${n}.com`;
          return stores.map((store) =>
            store.publish(publishedScan({ host, scannedAtMs }), ['origins']),
          );
        });
        await Promise.all(publishing.flat());
        clock.advance(DAY_MS);
        const toDay = utcDay(clock.now());
        const sumOrigins = (store: (typeof stores)[number]) =>
          store.statistics
            .sumCounters({ fromDay: toDay - 29, toDay })
            .then(({ total }) => total.get('origins'));
        const folding = stores.flatMap((store) => [1, 2].map(() => store.purge(clock.now())));
        const sums = await Promise.all([...stores, ...stores].map(sumOrigins));
        const sumBefore = round === 1 ? undefined : (round - 1) * HOST_COUNT;
        for (const sum of sums) expect([sumBefore, round * HOST_COUNT]).toContain(sum);
        await Promise.all(folding);
        expect(await Promise.all(stores.map(sumOrigins))).toEqual([
          round * HOST_COUNT,
          round * HOST_COUNT,
        ]);
      }
    } finally {
      for (const store of stores) await store.close();
      await dropDatabase(url);
    }
  });
});
