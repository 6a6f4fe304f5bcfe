/** Bytes that an origin leaves in the store. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { openSqlite } from '../../../src/store/sqlite/store.ts';
import { priceOf } from '../../hosts/purchase.ts';
import { newPayer } from '../../payment/payer.ts';
import { ledgerStep } from '../../store/contract/samples.ts';
import type { BenchCase } from '../measurement.ts';
import { newDataFolder, publishScans, sampleScan, usedBytes } from '../seeded-store.ts';

const DAY_MS = 86_400_000;
const SALE = ['claimed', 'computed', 'settling', 'settled', 'published'] as const;

/** What an origin leaves in the store: for a day, and for good. */
const storage: BenchCase = async ({ isQuick }) => {
  // Pages have 4 KiB: fewer rows may fit into what is free already.
  const hosts = isQuick ? 60 : 1_000;
  const rescans = 4;
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
  const sold = await during((store) => sell(store, hosts, JSON.stringify(sample.report)));
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
    {
      what: 'a sale, for a day or two',
      value: (sold - rescanned) / hosts,
      unit: 'bytes',
      note: 'answer 24 h, ledger 48 h',
    },
  ];
};

export default storage;

/** What the gate keeps of a paid scan: five steps, and the answer. */
async function sell(store: Store, sales: number, body: string): Promise<void> {
  const { payload } = await newPayer().sign({ value: priceOf('scan') });
  const payment = { payment: payload as JsonObject }; // made by JSON.parse's rules: text and objects
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  for (let n = 0; n < sales; n += 1) {
    const answerId = randomUUID();
    await store.answers.put(answerId, { status: 200, headers }, Readable.from([Buffer.from(body)]));
    for (const [index, state] of SALE.entries()) {
      const data = state === 'claimed' || state === 'settling' ? payment : {};
      await store.ledger.append(ledgerStep(keyOf(n), index + 1, state, { answerId, data }));
    }
  }
}

/** As long as real ones. */
function keyOf(n: number): string {
  return `eip155:8453:0x${'8'.repeat(40)}:0x${'f'.repeat(40)}:0x${String(n).padStart(64, '0')}`;
}
