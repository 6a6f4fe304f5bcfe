import { openSqlite } from '../../../src/store/sqlite.ts';
import type { BenchCase } from '../measurement.ts';
import { newDataFolder, publishScans, sampleScan, usedBytes } from '../seeded-store.ts';

const DAY_MS = 86_400_000;

/** What an origin leaves in the store: for a day, and for good. */
const storage: BenchCase = async ({ isQuick }) => {
  const hosts = isQuick ? 20 : 1_000;
  const rescans = isQuick ? 1 : 4;
  await using folder = await newDataFolder('scratch');
  const { database } = folder;
  const sample = await sampleScan();
  let nowMs = Date.now();
  const during = async (work: (store: ReturnType<typeof openSqlite>) => Promise<void>) => {
    const store = openSqlite(database, { clock: () => nowMs });
    try {
      await work(store);
    } finally {
      await store.close();
    }
    return usedBytes(database);
  };

  const empty = await during(async () => undefined);
  const scanned = await during((store) =>
    publishScans(store, sample, { hosts, withResults: true }),
  );
  nowMs += DAY_MS + 1;
  const lasting = await during(async (store) => {
    await store.purge(nowMs);
  });
  const rescanned = await during(async (store) => {
    for (let n = 0; n < rescans; n += 1) {
      nowMs += DAY_MS;
      await publishScans(store, sample, { hosts, withResults: false });
    }
  });
  return [
    { what: 'an origin, for good', value: (lasting - empty) / hosts, unit: 'bytes' },
    {
      what: 'its report, for a day',
      value: (scanned - lasting) / hosts,
      unit: 'bytes',
      note: 'per scan of the last 24 h',
    },
    {
      what: 'each further scan',
      value: (rescanned - lasting) / (hosts * rescans),
      unit: 'bytes',
      note: 'history (400 rows a host at most) and change',
    },
  ];
};

export default storage;
