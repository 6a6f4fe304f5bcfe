/** The embedded store keeps its rows through kills, full disks and newer programs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { openSqlite } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { allPages } from './contract/changes.ts';
import { ledgerStep, publishedScan, scanResult } from './contract/samples.ts';

const WRITER = join(import.meta.dirname, 'ledger-writer.ts');

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  cleanUps.push(() => rmSync(folder, { recursive: true }));
  return folder;
}

function closing(store: Store): Store {
  cleanUps.push(() => store.close());
  return store;
}

/** Starts the writer and waits until the store has answered this number of steps. */
async function startWriter(url: string, answers: number): Promise<ChildProcess> {
  const writer = spawn(process.execPath, [WRITER, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanUps.push(() => writer.kill('SIGKILL'));
  for await (const line of createInterface({ input: writer.stdout })) {
    if (Number(line) >= answers) return writer;
  }
  throw new Error('the writer ended by itself');
}

const isScan = (n: number) => (row: { readonly scanId: string }) => row.scanId === `scan-${n}`;

describe('a killed process', () => {
  it.each([1, 7, 40])(
    'loses nothing that it had acknowledged (killed after %i)',
    async (answers) => {
      const url = `sqlite:${join(newFolder(), 'scanner.db')}`;
      const writer = await startWriter(url, answers);
      writer.kill('SIGKILL');
      await once(writer, 'exit');

      // No stale lock delays the restart.
      const store = closing(await openStore(url));
      for (let n = 1; n <= answers; n += 1) {
        const entry = await store.ledger.findEntry(`key-${n}`);
        expect(entry?.last.data).toEqual({ n });
      }
      // The kill may fall between the steps of the last publication. It is run again, as a recovery does.
      const announced = (await allPages(store, 100)).flat().length;
      const broken = announced + 1;
      if ((await store.history.list(`h${broken % 5}.com`)).some(isScan(broken))) {
        await store.publish(
          publishedScan({
            scanId: `scan-${broken}`,
            host: `h${broken % 5}.com`,
            score: broken % 100,
          }),
        );
      }
      // Each change has its history row, and the numbers have no gap.
      const changes = (await allPages(store, 100)).flat();
      expect(changes.length).toBeGreaterThanOrEqual(answers);
      expect(changes.map((change) => change.n)).toEqual(changes.map((_, index) => index + 1));
      for (const host of new Set(changes.map((change) => change.host))) {
        const ofHost = changes.filter((change) => change.host === host).map(({ scanId }) => scanId);
        const history = (await store.history.list(host)).map(({ scanId }) => scanId);
        expect(history.toSorted()).toEqual(ofHost.slice(-history.length).toSorted());
        expect((await store.directory.get(host))?.scanCount).toBe(ofHost.length);
      }
    },
  );
});

describe('one process for a file', () => {
  it('refuses a second process while the first lives', async () => {
    const url = `sqlite:${join(newFolder(), 'scanner.db')}`;
    await startWriter(url, 1);
    await expect(openStore(url)).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining('in use by another process'),
    });
  });

  it('refuses a second opening by another path to the same file, until the first is closed', async () => {
    const folder = newFolder();
    const store = closing(await openStore(`sqlite:${join(folder, 'scanner.db')}`));
    symlinkSync(folder, join(folder, 'link'));
    const other = `sqlite:${join(folder, 'link', 'scanner.db')}`;
    await expect(openStore(other)).rejects.toMatchObject({ code: 'locked' });
    await store.close();
    closing(await openStore(other));
  });
});

describe('a full disk', () => {
  it('gives a clear error, loses nothing, and allows writes again once there is room', async () => {
    const path = join(newFolder(), 'scanner.db');
    const small = openSqlite(path, { maxPages: 200 });
    await small.ledger.append(ledgerStep('k', 1, 'claimed'));
    let saved = 0;
    const fill = async (): Promise<void> => {
      for (;;) {
        const report = { text: 'x'.repeat(20_000) };
        await small.results.save(scanResult({ scanId: `s${saved}`, report }));
        saved += 1;
      }
    };
    await expect(fill()).rejects.toMatchObject({
      code: 'full',
      message: expect.stringContaining('free some space'),
    });
    expect(saved).toBeGreaterThan(5);
    const chunk = Buffer.alloc(500_000);
    const put = small.answers.put('a', { status: 200, headers: {} }, [chunk]);
    await expect(put).rejects.toMatchObject({ code: 'full' });
    expect(await small.answers.get('a')).toBeNull();
    // The store stays readable, and no row is lost.
    expect((await small.ledger.findEntry('k'))?.last.state).toBe('claimed');
    expect(await small.results.findByScan(`s${saved}`)).toBeNull();
    await small.close();

    const roomy = closing(openSqlite(path));
    for (let n = 0; n < saved; n += 1)
      expect(await roomy.results.findByScan(`s${n}`)).not.toBeNull();
    expect(await roomy.ledger.append(ledgerStep('k', 2, 'computed'))).toBe('won');
    await roomy.publish(publishedScan());
  });

  it('leaves no part of a publication', async () => {
    const path = join(newFolder(), 'scanner.db');
    const small = openSqlite(path, { maxPages: 209 });
    let published = 0;
    const fill = async (): Promise<void> => {
      for (;;) {
        await small.publish(publishedScan({ scanId: `s${published}`, host: `h${published}.com` }));
        published += 1;
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: 'full' });
    await small.close();
    const roomy = closing(openSqlite(path));
    expect(await roomy.directory.get(`h${published}.com`)).toBeNull();
    expect((await allPages(roomy, 1_000)).flat()).toHaveLength(published);
    await roomy.publish(publishedScan({ scanId: `s${published}`, host: `h${published}.com` }));
    expect((await allPages(roomy, 1_000)).flat()).toHaveLength(published + 1);
  });
});

describe('a file that cannot be used', () => {
  it('of a newer program is refused', async () => {
    const path = join(newFolder(), 'scanner.db');
    await openSqlite(path).close();
    const file = new DatabaseSync(path);
    file.exec('PRAGMA user_version = 999');
    file.close();
    expect(() => openSqlite(path)).toThrow(/schema 999.*newer program/);
    // The refused opening keeps no lock.
    expect(() => openSqlite(path)).toThrow(expect.objectContaining({ code: 'incompatible' }));
  });

  it('that is not a database is refused and left unchanged', () => {
    const path = join(newFolder(), 'scanner.db');
    writeFileSync(path, 'a letter to my aunt, of some length so that it has a header\n'.repeat(20));
    expect(() => openSqlite(path)).toThrow(expect.objectContaining({ code: 'corrupt' }));
  });

  it('in a folder that cannot be created is refused', () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'file'), '');
    const open = () => openSqlite(join(folder, 'file', 'scanner.db'));
    expect(open).toThrow(expect.objectContaining({ code: 'unavailable' }));
  });
});
