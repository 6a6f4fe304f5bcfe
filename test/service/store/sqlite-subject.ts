import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { openSqlite, type SqliteOptions } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { publishedScan } from './contract/samples.ts';
import type { ContractSubject } from './contract/subject.ts';

/** Embedded stores in folders of their own, closed and removed after each test. */
export function sqliteSubject(fixed: SqliteOptions = {}): ContractSubject {
  const opened: Store[] = [];
  const folders: string[] = [];

  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  const open: ContractSubject['fresh'] = async (options) => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    folders.push(folder);
    return reopen(join(folder, 'scanner.db'), options);
  };

  async function reopen(path: string, options: Parameters<typeof open>[0]): Promise<Store> {
    const store = openSqlite(path, { ...fixed, ...options });
    opened.push(store);
    return store;
  }

  return {
    operations: 1_000,
    fresh: open,
    async restart(store, options) {
      await store.close();
      return reopen(store.info.location, options);
    },
    async seedHistory(store, host, rows, firstMs) {
      for (let row = 0; row < rows; row += 1) {
        await store.publish(publishedScan({ host, scannedAtMs: firstMs + row }));
      }
    },
  };
}
