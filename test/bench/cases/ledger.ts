/** The embedded ledger: synced steps a second. */
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { ledgerStep } from '../../service/store/contract/samples.ts';
import type { BenchCase } from '../measurement.ts';
import { newDataFolder } from '../seeded-store.ts';

const STATES = ['claimed', 'computed', 'settling', 'settled', 'published'] as const;

/** Synced steps of payments in the embedded store, one after another. */
const ledger: BenchCase = async ({ isQuick }) => {
  const durationMs = isQuick ? 50 : 4_000;
  await using folder = await newDataFolder('disk');
  const store = openSqlite(folder.database);
  try {
    const startMs = performance.now();
    let sales = 0;
    do {
      for (const [index, state] of STATES.entries()) {
        await store.ledger.append(ledgerStep(`key-${sales}`, index + 1, state));
      }
      sales += 1;
    } while (performance.now() - startMs < durationMs);
    const seconds = (performance.now() - startMs) / 1_000;
    const commits = (sales * STATES.length) / seconds;
    return [
      { what: 'ledger steps', value: commits, unit: 'commits/s', note: 'WAL, synchronous=FULL' },
      { what: 'sales', value: commits / STATES.length, unit: 'sales/s', note: '5 steps each' },
    ];
  } finally {
    await store.close();
  }
};

export default ledger;
