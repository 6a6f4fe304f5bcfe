/** A start upgrades or refuses a store that another version of the program wrote. */

import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/open-store.ts';
import { folderPerTest } from '../../fixtures/temp-folder.ts';
import { publishedScan } from './contract/samples.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const clock = () => NOW_MS + 10_000;

describe('an embedded store of another program', () => {
  const folder = folderPerTest();
  let path: string;
  beforeEach(() => {
    path = folder.at('scanner.db');
  });

  test('gets the missing tables and indexes when it is opened', async () => {
    await (await openStore(`sqlite:${path}`)).close();
    const file = new DatabaseSync(path);
    file.exec('DROP TABLE snapshots; DROP INDEX "slots group"');
    file.close();
    const store = await openStore(`sqlite:${path}`, { clock });
    await store.snapshots.put({ source: 's', key: 'k', takenAtMs: NOW_MS, data: {} });
    expect(await store.snapshots.get('s', 'k')).toMatchObject({ data: {} });
    await store.close();
  });

  test('gets the missing columns when it is opened, and keeps its rows', async () => {
    const host = 'api.example.com';
    const firstStore = await openStore(`sqlite:${path}`, { clock });
    await firstStore.publish(publishedScan({ host, scannedAtMs: NOW_MS, scannerVersion: '0.2.0' }));
    await firstStore.close();
    const file = new DatabaseSync(path);
    file.exec('ALTER TABLE history DROP COLUMN scannerVersion');
    file.close();
    const store = await openStore(`sqlite:${path}`, { clock });
    const later = publishedScan({ host, scannedAtMs: NOW_MS + 1, scannerVersion: '0.3.0' });
    await store.publish(later);
    const history = await store.history.list(host);
    expect(history.map(({ scannerVersion }) => scannerVersion)).toEqual([undefined, '0.3.0']);
    await store.close();
  });

  test('is refused if its schema number is older or newer, and keeps its rows', async () => {
    const firstStore = await openStore(`sqlite:${path}`, { clock });
    await firstStore.snapshots.put({ source: 's', key: 'k', takenAtMs: NOW_MS, data: 1 });
    await firstStore.close();
    const file = new DatabaseSync(path);
    for (const [version, advice] of [
      [12, 'give this program its own STORE_URL'],
      [14, 'run the newer program'],
    ] as const) {
      file.exec(`PRAGMA user_version = ${version}`);
      // A refused start keeps no lock, or the next one would be refused for the lock.
      await expect(openStore(`sqlite:${path}`)).rejects.toMatchObject({
        code: 'incompatible',
        message: expect.stringMatching(`has schema ${version}, .*${advice}`),
      });
    }
    expect(file.prepare('SELECT count(*) AS n FROM snapshots').get()).toEqual({ n: 1 });
    file.close();
  });
});
