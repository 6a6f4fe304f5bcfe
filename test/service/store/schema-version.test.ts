/** A start upgrades or refuses a store that another version of the program wrote. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/open-store.ts';
import { publishedScan } from './contract/samples.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const clock = () => NOW_MS + 10_000;

describe('an embedded store of a program with fewer tables', () => {
  test('gets the missing tables when it is opened', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    try {
      const path = join(folder, 'scanner.db');
      await (await openStore(`sqlite:${path}`)).close();
      const file = new DatabaseSync(path);
      file.exec('DROP TABLE snapshots; DROP INDEX "slots group"');
      file.close();
      const store = await openStore(`sqlite:${path}`, { clock });
      await store.snapshots.put({ source: 's', key: 'k', takenAtMs: NOW_MS, data: {} });
      expect(await store.snapshots.get('s', 'k')).toMatchObject({ data: {} });
      await store.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('an embedded store with an older or newer schema number', () => {
  test('is refused, and keeps its rows', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    const path = join(folder, 'scanner.db');
    try {
      const firstStore = await openStore(`sqlite:${path}`, { clock });
      await firstStore.snapshots.put({ source: 's', key: 'k', takenAtMs: NOW_MS, data: 1 });
      await firstStore.close();
      const file = new DatabaseSync(path);
      for (const version of [12, 14]) {
        file.exec(`PRAGMA user_version = ${version}`);
        await expect(openStore(`sqlite:${path}`)).rejects.toMatchObject({
          code: 'incompatible',
          message: expect.stringContaining(`has schema ${version}`),
        });
      }
      expect(file.prepare('SELECT count(*) AS n FROM snapshots').get()).toEqual({ n: 1 });
      file.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('an embedded store of a program with fewer columns', () => {
  test('gets the missing columns when it is opened, and keeps its rows', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    const path = join(folder, 'scanner.db');
    const host = 'api.example.com';
    try {
      const firstStore = await openStore(`sqlite:${path}`, { clock });
      await firstStore.publish(
        publishedScan({ host, scannedAtMs: NOW_MS, scannerVersion: '0.2.0' }),
      );
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
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
