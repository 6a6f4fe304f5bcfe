import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/open-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'store-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('STORE_URL', () => {
  test.each([
    '',
    'scanner.db',
    'postgres://user:secret@db/x',
    'sqlite:',
    'sqlite:./data/',
    'sqlite://host/file.db',
    'mongodb://user:secret@db.example.com',
    'mongodb://user:secret@/scanner',
    'mongodb://user:secret@db.example.com/sc anner',
  ])(
    '%j is refused with an error that names the accepted forms and hides the password',
    async (url) => {
      const error: unknown = await openStore(url).catch((cause: unknown) => cause);
      expect(error).toMatchObject({
        code: 'bad_url',
        message: expect.stringContaining('accepted'),
      });
      expect(String(error)).not.toContain('secret');
    },
  );

  test('sqlite:<file> creates the folder of the file', async () => {
    const path = join(folder, 'new', 'deep', 'scanner.db');
    const store = await openStore(`sqlite:${path}`);
    expect(store.info).toMatchObject({ kind: 'sqlite', location: path });
    expect(existsSync(path)).toBe(true);
    await store.close();
  });

  test('sqlite::memory: opens a separate store each time, without a lock', async () => {
    const [firstStore, secondStore] = [
      await openStore('sqlite::memory:'),
      await openStore('sqlite::memory:'),
    ];
    await firstStore.listing.set('a.com', { listed: false });
    expect((await secondStore.listing.get('a.com')).settings.listed).toBe(true);
    await firstStore.close();
    await secondStore.close();
  });
});
