import { StoreError } from './contract/store-error.ts';
import { sqlitePath } from './open-store.ts';
import { type BackedUp, backupSqlite, restoreSqlite } from './sqlite/backup.ts';

/** Copies the embedded store that `STORE_URL` names to a new file, also while it is used. Throws StoreError. */
export function backupStore(url: string, target: string): BackedUp {
  return backupSqlite(fileOf(url), target);
}

/** Restores a backup to the embedded store that `STORE_URL` names, before it is opened. Throws StoreError. */
export function restoreStore(url: string, backup: string): BackedUp {
  return restoreSqlite(backup, fileOf(url));
}

function fileOf(url: string): string {
  if (url.startsWith('sqlite:')) return sqlitePath(url);
  const message =
    'STORE_URL names no embedded store (sqlite:<file>): a MongoDB is backed up and restored by its own tools, mongodump and mongorestore';
  throw new StoreError('bad_url', message);
}
