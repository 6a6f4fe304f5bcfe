/** Both processes of the race tests run these racers. */
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { createGuard } from '../../../src/service/store/mongo/client.ts';
import { createMongoTable } from '../../../src/service/store/mongo/table.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { openTables } from '../../../src/service/store/table.ts';
import { TABLES } from '../../../src/service/store/tables.ts';
import { ledgerStep, publishedScan } from './contract/samples.ts';

export type Decision = 'ledger step' | 'lease' | 'change number' | 'listing change';

/** An order to the second process. */
export type RacerOrder =
  | { readonly kind: 'race'; readonly decision: Decision; readonly round: number }
  | { readonly kind: 'publish'; readonly from: number; readonly scans: number }
  | { readonly kind: 'hold'; readonly lease: string };

const RACERS_PER_PROCESS = 50;

export const SETTINGS = {
  revision: '0.3.0',
  network: 'eip155:8453',
  asset: '0xasset',
  payTo: '0xpayto',
  baseUrl: 'http://127.0.0.1:4021',
  catalog: '2026-08-14.2',
  signingKey: 'kept in the store',
};

export type Racers = {
  /** Number of racers of this process that won the round. */
  race(decision: Decision, round: number): Promise<number>;
  close(): Promise<void>;
};

export function createRacers(store: Store, url: string): Racers {
  const client = new MongoClient(url);
  const guard = createGuard('races', () => false);
  const { changes } = openTables({ changes: TABLES.changes }, (spec) =>
    createMongoTable(client.db(), spec, guard),
  );
  const decide: Record<Decision, (round: number) => Promise<boolean>> = {
    'ledger step': async (round) =>
      (await store.ledger.append(ledgerStep('raced', round, 'computed'))) === 'won',
    lease: async (round) => (await store.leases.takeSole(['scan', `${round}`], 3_600_000)).taken,
    'change number': async (round) => {
      const { scanId, host, grade, score, checksVersion } = publishedScan();
      const change = { scanId, host, grade, score, checksVersion, changeType: 'new' } as const;
      const first = {
        previousGrade: null,
        previousScore: null,
        scannerVersion: null,
        hidden: false,
      };
      const row = { ...change, ...first, n: round, changedAtMs: round, attempt: randomUUID() };
      return (await changes.insertContended(row)) === 'won';
    },
    'listing change': async (round) =>
      (await store.listing.setIf(`listed-${round}.com`, 0, { listed: false })) !== null,
  };
  return {
    async race(decision, round) {
      const racers = Array.from({ length: RACERS_PER_PROCESS }, () => decide[decision](round));
      return (await Promise.all(racers)).filter(Boolean).length;
    },
    close: () => client.close(),
  };
}
