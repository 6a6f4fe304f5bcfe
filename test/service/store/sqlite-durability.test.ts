/** The embedded store keeps its rows through kills, full disks and newer programs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/open-store.ts';
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { allPages } from './contract/changes.ts';
import { ledgerStep, publishedScan, scanResult } from './contract/samples.ts';

const WRITER_FILE = join(import.meta.dirname, 'ledger-writer.ts');

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  cleanUps.push(() => rmSync(folder, { recursive: true }));
  return folder;
}

function closeAfterTest(store: Store): Store {
  cleanUps.push(() => store.close());
  return store;
}

/** Starts a process that writes steps, and waits until the store has acknowledged `stepCount` of them. */
async function startWriter(url: string, stepCount: number): Promise<ChildProcess> {
  const writer = spawn(process.execPath, [WRITER_FILE, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanUps.push(() => writer.kill('SIGKILL'));
  for await (const line of createInterface({ input: writer.stdout })) {
    if (Number(line) >= stepCount) return writer;
  }
  throw new Error('the writer ended by itself');
}

const isScan = (n: number) => (row: { readonly scanId: string }) => row.scanId === `scan-${n}`;

describe('a killed process', () => {
  test.each([1, 7, 40])(
    'loses none of the steps that the store acknowledged (killed after %i steps)',
    async (stepCount) => {
      const url = `sqlite:${join(newFolder(), 'scanner.db')}`;
      const writer = await startWriter(url, stepCount);
      writer.kill('SIGKILL');
      await once(writer, 'exit');

      // No stale lock delays the restart.
      const store = closeAfterTest(await openStore(url));
      for (let n = 1; n <= stepCount; n += 1) {
        const entry = await store.ledger.findEntry(`key-${n}`);
        expect(entry?.last.data).toEqual({ n });
      }
      // The kill may interrupt the last publication. The test publishes it again, as a recovery does.
      const changeCount = (await allPages(store, 100)).flat().length;
      const interrupted = changeCount + 1;
      if ((await store.history.list(`h${interrupted % 5}.com`)).some(isScan(interrupted))) {
        await store.publish(
          publishedScan({
            scanId: `scan-${interrupted}`,
            host: `h${interrupted % 5}.com`,
            score: interrupted % 100,
          }),
        );
      }
      // Each change has its history row, and the numbers have no gap.
      const changes = (await allPages(store, 100)).flat();
      expect(changes.length).toBeGreaterThanOrEqual(stepCount);
      expect(changes.map((change) => change.n)).toEqual(changes.map((_, index) => index + 1));
      for (const host of new Set(changes.map((change) => change.host))) {
        const hostScanIds = changes
          .filter((change) => change.host === host)
          .map(({ scanId }) => scanId);
        const history = (await store.history.list(host)).map(({ scanId }) => scanId);
        expect(history.toSorted()).toEqual(hostScanIds.slice(-history.length).toSorted());
        expect((await store.directory.get(host))?.scanCount).toBe(hostScanIds.length);
      }
    },
  );
});

describe('a store file in use', () => {
  test('cannot be opened by a second process while the first process lives', async () => {
    const url = `sqlite:${join(newFolder(), 'scanner.db')}`;
    await startWriter(url, 1);
    await expect(openStore(url)).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining('in use by another process'),
    });
  });

  test('cannot be opened by another path until its store is closed', async () => {
    const folder = newFolder();
    const store = closeAfterTest(await openStore(`sqlite:${join(folder, 'scanner.db')}`));
    symlinkSync(folder, join(folder, 'link'));
    const linkedUrl = `sqlite:${join(folder, 'link', 'scanner.db')}`;
    await expect(openStore(linkedUrl)).rejects.toMatchObject({ code: 'locked' });
    await store.close();
    closeAfterTest(await openStore(linkedUrl));
  });
});

describe('a full disk', () => {
  test('gives a clear error and loses no row, and writes work again when there is room', async () => {
    const path = join(newFolder(), 'scanner.db');
    const fullStore = openSqlite(path, { maxPages: 200 });
    await fullStore.ledger.append(ledgerStep('k', 1, 'claimed'));
    let saved = 0;
    const fill = async (): Promise<void> => {
      for (;;) {
        const report = { text: 'x'.repeat(20_000) };
        await fullStore.results.save(scanResult({ scanId: `s${saved}`, report }));
        saved += 1;
      }
    };
    await expect(fill()).rejects.toMatchObject({
      code: 'full',
      message: expect.stringContaining('free some space'),
    });
    expect(saved).toBeGreaterThan(5);
    const chunk = Buffer.alloc(500_000);
    const putting = fullStore.answers.put('a', { status: 200, headers: {} }, [chunk]);
    await expect(putting).rejects.toMatchObject({ code: 'full' });
    expect(await fullStore.answers.get('a')).toBeNull();
    // The store stays readable, and no row is lost.
    expect((await fullStore.ledger.findEntry('k'))?.last.state).toBe('claimed');
    expect(await fullStore.results.findByScan(`s${saved}`)).toBeNull();
    await fullStore.close();

    const reopened = closeAfterTest(openSqlite(path));
    for (let n = 0; n < saved; n += 1)
      expect(await reopened.results.findByScan(`s${n}`)).not.toBeNull();
    expect(await reopened.ledger.append(ledgerStep('k', 2, 'computed'))).toBe('won');
    await reopened.publish(publishedScan());
  });

  test('leaves no part of a publication that failed', async () => {
    const path = join(newFolder(), 'scanner.db');
    const fullStore = openSqlite(path, { maxPages: 209 });
    let published = 0;
    const fill = async (): Promise<void> => {
      for (;;) {
        await fullStore.publish(
          publishedScan({ scanId: `s${published}`, host: `h${published}.com` }),
        );
        published += 1;
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: 'full' });
    await fullStore.close();
    const reopened = closeAfterTest(openSqlite(path));
    expect(await reopened.directory.get(`h${published}.com`)).toBeNull();
    expect((await allPages(reopened, 1_000)).flat()).toHaveLength(published);
    await reopened.publish(publishedScan({ scanId: `s${published}`, host: `h${published}.com` }));
    expect((await allPages(reopened, 1_000)).flat()).toHaveLength(published + 1);
  });
});

describe('a store file', () => {
  test('that is not a database is refused and left unchanged', () => {
    const path = join(newFolder(), 'scanner.db');
    const text = 'This text is longer than the header of a database.\n'.repeat(20);
    writeFileSync(path, text);
    expect(() => openSqlite(path)).toThrow(expect.objectContaining({ code: 'corrupt' }));
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('in a folder that cannot be created is refused', () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'file'), '');
    const open = () => openSqlite(join(folder, 'file', 'scanner.db'));
    expect(open).toThrow(expect.objectContaining({ code: 'unavailable' }));
  });
});
