/** Callers in two processes race on the shared store. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DirectoryChange } from '../../../src/service/store/changes.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { createRacers, type Decision, type Racers, SETTINGS } from './mongo-races.ts';
import { dropDatabase, freshDatabase, startServerForFile } from './mongo-subject.ts';
import { OtherProcess } from './other-process.ts';

const RACE_ROUNDS: Readonly<Record<Decision, number>> = {
  'ledger step': 50,
  lease: 50,
  'change number': 50,
  'listing change': 10,
};
/** More scans would be slow, because the test server reads a whole sequence to find its last member. */
const SCAN_COUNT = 400;
const TIMEOUT_MS = 600_000;

const server = await startServerForFile();

describe('two processes on one database', server.needed, () => {
  // Eight connections are enough, because racers that wait for a connection race too.
  const url = `${freshDatabase(server.uri)}?maxPoolSize=8`;
  let store: Store;
  let ownRacers: Racers;
  let otherProcess: OtherProcess;

  beforeAll(async () => {
    store = await openStore(url);
    await store.instances.join({ settings: SETTINGS });
    ownRacers = createRacers(store, url);
    otherProcess = await OtherProcess.start(url);
  });

  afterAll(async () => {
    await otherProcess?.kill();
    await ownRacers?.close();
    await store?.close();
    await dropDatabase(url);
  });

  test.each<Decision>(['ledger step', 'lease', 'change number', 'listing change'])(
    'let exactly one of 100 racers win each %s',
    async (decision) => {
      for (let round = 1; round <= RACE_ROUNDS[decision]; round += 1) {
        const order = { kind: 'race', decision, round } as const;
        const [ownWins, otherWins] = await Promise.all([
          ownRacers.race(decision, round),
          otherProcess.tell(order),
        ]);
        expect(ownWins + otherWins, `round ${round}`).toBe(1);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'read each of 400 changes once, page by page, while the other process publishes them',
    async () => {
      const lastRaceChange = RACE_ROUNDS['change number'];
      const readChanges: DirectoryChange[] = [];
      let sinceMs = lastRaceChange;
      const readPage = async (): Promise<boolean> => {
        const { changes, hasMore } = await store.changes.list({ sinceMs, limit: 37 });
        readChanges.push(...changes);
        sinceMs = changes.at(-1)?.changedAtMs ?? sinceMs;
        return hasMore;
      };
      // One page is read while each 25 scans are published, and the remaining pages are read at the end.
      for (let from = 1; from <= SCAN_COUNT; from += 25) {
        await Promise.all([otherProcess.tell({ kind: 'publish', from, scans: 25 }), readPage()]);
      }
      expect(readChanges.length).toBeGreaterThan(0);
      while (await readPage());
      expect(readChanges.map((change) => change.n)).toEqual(
        Array.from({ length: SCAN_COUNT }, (_, index) => lastRaceChange + 1 + index),
      );
      expect(new Set(readChanges.map((change) => change.scanId)).size).toBe(SCAN_COUNT);
      for (const host of new Set(readChanges.map((change) => change.host))) {
        const hostChanges = readChanges.filter((change) => change.host === host);
        expect(hostChanges.map((change) => change.changeType)).toEqual([
          'new',
          ...hostChanges.slice(1).map(() => 'rescanned'),
        ]);
        expect((await store.directory.get(host))?.scanCount).toBe(hostChanges.length);
      }
    },
    TIMEOUT_MS,
  );
});
