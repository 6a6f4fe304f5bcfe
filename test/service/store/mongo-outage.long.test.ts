/** The database server of the shared store is killed and restarted, or cannot be reached. */
import { afterEach, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { OpenStoreOptions, Store } from '../../../src/service/store/store.ts';
import { needs } from '../../fixtures/needs.ts';
import { ledgerStep, publishedScan } from './contract/samples.ts';
import { SETTINGS } from './mongo-races.ts';
import { freshDatabase, startServerForFile } from './mongo-subject.ts';

const server = await startServerForFile();
const { process: serverProcess, unavailable } = server;

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});
async function open(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const store = await openStore(url, { connectTimeoutMs: 1_000, ...options });
  cleanUps.push(() => store.close());
  return store;
}

describe('a database that cannot be reached at the start', () => {
  test('is reported within seconds, without the password', async () => {
    const url = 'mongodb://user:secret@127.0.0.1:1/scanner';
    const error: unknown = await open(url).catch((cause: unknown) => cause);
    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/mongodb:\/\/127\.0\.0\.1:1\/scanner.*check that it runs/s),
    });
    expect(String(error)).not.toContain('secret');
  });
});

describe('a database URL that asks for weaker reads and writes', server.needed, () => {
  test('does not weaken the decision who wins a ledger step', async () => {
    const url = freshDatabase(server.uri);
    const weakUrl = `${url}?w=0&journal=false&readConcernLevel=local&readPreference=nearest`;
    const { ledger } = await open(weakUrl);
    const firstStep = ledgerStep('k', 1, 'claimed', { data: { by: 'first' } });
    expect(await ledger.append(firstStep)).toBe('won');
    // Without acknowledgement, this insert would look like a success.
    expect(await ledger.append(ledgerStep('k', 1, 'claimed'))).toBe('lost');
    expect((await ledger.findEntry('k'))?.last.data).toEqual({ by: 'first' });
  });
});

const foreignServer = 'MONGODB_URI names a server that is not ours to kill';
describe(
  'a database that is killed',
  needs(unavailable ?? (serverProcess ? null : foreignServer)),
  () => {
    test('gives clear errors, and the open store works again after the restart of the database', async () => {
      const warnings: string[] = [];
      const url = freshDatabase(server.uri);
      const store = await open(url, { onError: (warning) => warnings.push(warning) });
      await store.instances.join({ settings: SETTINGS });
      await store.ledger.append(ledgerStep('before', 1, 'claimed'));
      await store.publish(publishedScan());

      await serverProcess?.kill();
      const step = ledgerStep('during', 1, 'claimed');
      for (const call of [
        () => store.ping(),
        () => store.ledger.append(step),
        () => store.ledger.findEntry('before'),
        () => store.publish(publishedScan()),
        () => store.directory.list({ sort: 'recent', page: 0, pageSize: 10 }),
        () => store.limits.hit('client', 60_000),
        () => store.purge(store.now()),
      ]) {
        await expect(call()).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' });
      }
      await serverProcess?.restart();

      await store.ping();
      expect(await store.ledger.append(step)).toBe('won');
      expect((await store.ledger.findEntry('before'))?.rows).toHaveLength(1);
      expect((await store.changes.list({ sinceMs: 0, limit: 9 })).changes).toHaveLength(1);
    });

    test('during a write leaves each step written once, and tells the writer that it won', async () => {
      const store = await open(freshDatabase(server.uri));
      let written = 0;
      const write = async (): Promise<void> => {
        for (let n = 0; n < 60; n += 1) {
          const step = ledgerStep(`k${n}`, 1, 'claimed', { data: { n } });
          expect(await appendUntilAnswered(store, step)).toBe('won');
          written += 1;
          if (n % 20 === 10) void serverProcess?.restart();
        }
      };
      await write();
      await serverProcess?.restart();
      expect(written).toBe(60);
      for (let n = 0; n < 60; n += 1) {
        const entry = await store.ledger.findEntry(`k${n}`);
        expect(entry?.rows.map((row) => row.data)).toEqual([{ n }]);
      }
    });
  },
);

/** Repeats the step with the same attempt id until the store answers, as callers do. */
async function appendUntilAnswered(store: Store, step: ReturnType<typeof ledgerStep>) {
  for (;;) {
    try {
      return await store.ledger.append(step);
    } catch (error) {
      expect(error).toMatchObject({ name: 'StoreError', code: 'unavailable' });
    }
  }
}
