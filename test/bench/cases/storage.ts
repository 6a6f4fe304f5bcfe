/** Bytes that an origin leaves in the store. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../src/scanner/model/json.ts';
import { toReportBody } from '../../../src/service/directory/published-report.ts';
import type { ScanFindings } from '../../../src/service/scans/finished-scan.ts';
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { priceOf } from '../../hosts/purchase.ts';
import { newPayer } from '../../service/payment/payer.ts';
import { ledgerStep } from '../../service/store/contract/samples.ts';
import type { BenchCase } from '../measurement.ts';
import { hostOf, newDataFolder, publishScans, sampleScan, usedBytes } from '../seeded-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PRESENTATION = {
  cache: 'miss',
  siteUrl: 'https://scanner.example',
  saysCharged: false,
  paidBy: 'payer',
} as const;
const SALE = ['claimed', 'computed', 'settling', 'settled', 'published'] as const;

/** Measures the bytes that an origin leaves in the store for a day, and for good. */
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
  nowMs += DAY_MS + HOUR_MS;
  const lasting = await during(async (store) => {
    await store.purge(nowMs);
  });
  const rescanned = await during(async (store) => {
    for (let n = 0; n < rescans; n += 1) {
      nowMs += DAY_MS;
      await publishScans(store, sample, { hosts, withResults: false });
    }
  });
  const sold = await during((store) => sell(store, hosts, sample));
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
      what: 'a paid scan, for a day or two',
      value: (sold - rescanned) / hosts,
      unit: 'bytes',
      note: 'its report and answer 24 h, ledger 48 h',
    },
  ];
};

export default storage;

/** Writes the rows that the gate keeps for a paid scan: report, stored answer and five steps. */
async function sell(
  store: Store,
  sales: number,
  sample: Awaited<ReturnType<typeof sampleScan>>,
): Promise<void> {
  const { payload } = await newPayer().sign({ value: priceOf('scan') });
  const payment = { payment: payload as JsonObject }; // made by JSON.parse's rules: text and objects
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  for (let n = 0; n < sales; n += 1) {
    const answerId = randomUUID();
    const [scanId, host] = [randomUUID(), hostOf(n)];
    const scannedAt = new Date(store.now()).toISOString();
    const report = { ...sample.report, origin: `https://${host}`, scannedAt };
    const findings: ScanFindings = { ...sample, report };
    await store.results.save({
      scanId,
      host,
      scannedAtMs: store.now(),
      submittedUrl: report.origin,
      report: findings,
    });
    const body = JSON.stringify(toReportBody({ scanId, host, ...findings }, PRESENTATION));
    await store.answers.put(answerId, { status: 200, headers }, [Buffer.from(body)], scanId);
    for (const [index, state] of SALE.entries()) {
      const data = state === 'claimed' ? payment : {};
      await store.ledger.append(ledgerStep(keyOf(n), index + 1, state, { answerId, scanId, data }));
    }
  }
}

/** A key as long as a real one. */
function keyOf(n: number): string {
  return `eip155:8453:0x${'8'.repeat(40)}:0x${'f'.repeat(40)}:0x${String(n).padStart(64, '0')}`;
}
