import { StoreError } from './errors.ts';
import { type BackedUp, backupSqlite, restoreSqlite } from './sqlite/backup.ts';
import { openSqlite } from './sqlite/store.ts';
import type { OpenStoreOptions, Store } from './store.ts';

const ACCEPTED =
  'accepted are sqlite:<file>, such as sqlite:./data/scanner.db, and mongodb://<servers>/<database>';

/**
 * Opens the store that `STORE_URL` names. Credentials in the URL never appear in an error.
 * @throws StoreError `bad_url`, and what opening it throws
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  if (url.startsWith('sqlite:')) return openSqlite(sqlitePath(url), options);
  // The driver is loaded only if it is used.
  if (/^mongodb(\+srv)?:/.test(url))
    return (await import('./mongo/store.ts')).openMongo(url, options);
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0];
  const fault = scheme ? `starts with "${scheme}"` : 'has no scheme';
  throw new StoreError('bad_url', `STORE_URL ${fault}: ${ACCEPTED}`);
}

/** `sqlite:x`, `sqlite:/x` and `sqlite:///x`, taken literally: nothing is decoded. */
export function sqlitePath(url: string): string {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '' || path.endsWith('/') || path.startsWith('//') || path.includes('\0')) {
    throw new StoreError('bad_url', `STORE_URL "${url}" names no file: ${ACCEPTED}`);
  }
  return path;
}

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
