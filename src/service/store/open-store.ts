import { type BackupContents, backupSqlite, restoreSqlite } from './sqlite/backup.ts';
import { openSqlite } from './sqlite/store.ts';
import type { OpenStoreOptions, Store } from './store.ts';
import { StoreError } from './store-error.ts';

const ACCEPTED_URLS =
  'accepted are sqlite:<file>, such as sqlite:./data/scanner.db, and mongodb://<servers>/<database>';

/**
 * Opens the store that `STORE_URL` names. Credentials in the URL never appear in an error.
 * @throws StoreError `bad_url`, and the errors of `openSqlite` and `openMongo`
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  if (url.startsWith('sqlite:')) return openSqlite(sqlitePath(url), options);
  // The driver is loaded only if it is used.
  if (/^mongodb(\+srv)?:/.test(url))
    return (await import('./mongo/store.ts')).openMongo(url, options);
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0];
  const problem = scheme ? `starts with "${scheme}"` : 'has no scheme';
  throw new StoreError('bad_url', `STORE_URL ${problem}: ${ACCEPTED_URLS}`);
}

/** Returns the path in `sqlite:x`, `sqlite:/x` or `sqlite:///x`. Percent-encoding is not decoded. */
function sqlitePath(url: string): string {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '' || path.endsWith('/') || path.startsWith('//') || path.includes('\0')) {
    throw new StoreError('bad_url', `STORE_URL "${url}" names no file: ${ACCEPTED_URLS}`);
  }
  return path;
}

/** Copies the embedded store at `url` to a new file. A service may be using the store. Throws StoreError. */
export function backupStore(url: string, target: string): BackupContents {
  return backupSqlite(requireSqlitePath(url), target);
}

/** Copies a backup to the path of the embedded store at `url`. No process may use the store. Throws StoreError. */
export function restoreStore(url: string, backup: string): BackupContents {
  return restoreSqlite(backup, requireSqlitePath(url));
}

function requireSqlitePath(url: string): string {
  if (url.startsWith('sqlite:')) return sqlitePath(url);
  const message =
    'STORE_URL names no embedded store (sqlite:<file>): a MongoDB is backed up and restored by its own tools, mongodump and mongorestore';
  throw new StoreError('bad_url', message);
}
