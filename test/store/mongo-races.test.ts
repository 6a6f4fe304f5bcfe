/** Races of many processes on the shared store. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DirectoryChange } from '../../src/store/changes.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { type Decision, type Racing, racing, SETTINGS } from './mongo-races.ts';
import { dropDatabase, freshDatabase } from './mongo-subject.ts';
import { OtherProcess } from './other-process.ts';

const ROUNDS: Readonly<Record<Decision, number>> = {
  'ledger step': 50,
  lease: 50,
  'change number': 50,
  'listing change': 10,
};
/** The test server reads a whole sequence to find its last member. */
const SCANS = 400;
const TIMEOUT_MS = 600_000;

const server = await startMongoServer();

describe(
  'two processes on one database',
  needs('uri' in server ? null : server.unavailable),
  () => {
    // Few connections suffice: racers that wait for a connection race too, and small machines stay usable.
    const url = 'uri' in server ? `${freshDatabase(server.uri)}?maxPoolSize=8` : '';
    let store: Store;
    let own: Racing;
    let other: OtherProcess;

    beforeAll(async () => {
      store = await openStore(url);
      await store.instances.join({ settings: SETTINGS });
      own = racing(store, url);
      other = await OtherProcess.start(url);
    });

    afterAll(async () => {
      await other?.kill();
      await own?.close();
      await store?.close();
      if (!('uri' in server)) return;
      await dropDatabase(url);
      await server[Symbol.asyncDispose]();
    });

    it.each<Decision>(['ledger step', 'lease', 'change number', 'listing change'])(
      'let exactly one of 100 racers have each %s',
      async (decision) => {
        for (let round = 1; round <= ROUNDS[decision]; round += 1) {
          const order = { kind: 'race', decision, round } as const;
          const [mine, theirs] = await Promise.all([own.race(decision, round), other.tell(order)]);
          expect(mine + theirs, `round ${round}`).toBe(1);
        }
      },
      TIMEOUT_MS,
    );

    it(
      'read 400 changes in pages while the other publishes them: none lost, none twice',
      async () => {
        const before = ROUNDS['change number'];
        const seen: DirectoryChange[] = [];
        let sinceMs = before;
        const readPage = async (): Promise<boolean> => {
          const { changes, hasMore } = await store.changes.list({ sinceMs, limit: 37 });
          seen.push(...changes);
          sinceMs = changes.at(-1)?.changedAtMs ?? sinceMs;
          return hasMore;
        };
        // Read one page while each 25 scans are published, then the remaining pages.
        for (let from = 1; from <= SCANS; from += 25) {
          await Promise.all([other.tell({ kind: 'publish', from, scans: 25 }), readPage()]);
        }
        expect(seen.length).toBeGreaterThan(0);
        while (await readPage());
        expect(seen.map((change) => change.n)).toEqual(
          Array.from({ length: SCANS }, (_, index) => before + 1 + index),
        );
        expect(new Set(seen.map((change) => change.scanId)).size).toBe(SCANS);
        for (const host of new Set(seen.map((change) => change.host))) {
          const ofHost = seen.filter((change) => change.host === host);
          expect(ofHost.map((change) => change.changeType)).toEqual([
            'new',
            ...ofHost.slice(1).map(() => 'rescanned'),
          ]);
          expect((await store.directory.get(host))?.scanCount).toBe(ofHost.length);
        }
      },
      TIMEOUT_MS,
    );
  },
);
