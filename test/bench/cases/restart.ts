/** Starting again on a ledger that was left open. */
import { copyFile } from 'node:fs/promises';
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { startInstance } from '../../hosts/instance-process.ts';
import { ledgerStep } from '../../service/store/contract/samples.ts';
import { type BenchCase, median } from '../measurement.ts';
import { newDataFolder } from '../seeded-store.ts';

/** From the start of the process until it answers, with a ledger that its predecessor left open. */
const restart: BenchCase = async ({ isQuick }) => {
  const entries = isQuick ? 50 : 10_000;
  const times = isQuick ? 1 : 3;
  await using left = await newDataFolder('scratch');
  await leaveOpen(left.database, entries);
  const withNothing: number[] = [];
  const withEntries: number[] = [];
  for (let n = 0; n < times; n += 1) {
    await using empty = await newDataFolder('disk');
    withNothing.push(await readyAfterMs(empty.database));
    // A copy for each start: the first one after a crash releases them all.
    await using busy = await newDataFolder('disk');
    await copyFile(left.database, busy.database);
    withEntries.push(await readyAfterMs(busy.database));
  }
  const ready = median(withEntries);
  return [
    { what: 'ready, nothing in the ledger', value: median(withNothing), unit: 'ms' },
    {
      what: `ready, ${entries} unfinished`,
      value: ready,
      unit: 'ms',
      note: 'under 2,000 on an idle machine',
    },
    {
      what: 'of which the ledger',
      value: ready - median(withNothing),
      unit: 'ms',
      note: 'below nothing: less than starts differ by',
    },
  ];
};

export default restart;

async function leaveOpen(database: string, entries: number): Promise<void> {
  const store = openSqlite(database);
  for (let n = 0; n < entries; n += 1) {
    await store.ledger.append(ledgerStep(`key-${n}`, 1, 'claimed'));
    if (n % 2 === 0) await store.ledger.append(ledgerStep(`key-${n}`, 2, 'computed'));
  }
  await store.close();
}

async function readyAfterMs(database: string): Promise<number> {
  const startMs = performance.now();
  const instance = await startInstance({ STORE_URL: `sqlite:${database}` });
  try {
    const { status } = await instance.get('/health');
    if (status !== 200) throw new Error(`/health answered ${status}`);
    return performance.now() - startMs;
  } finally {
    // A crash also leaves the ledger as it is at this moment.
    await instance.kill();
  }
}
