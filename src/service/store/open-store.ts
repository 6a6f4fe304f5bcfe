import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Connection, lockProcess, toStoreError } from './sqlite/database.ts';
import { openSqlite, requireSchemaVersion } from './sqlite/store.ts';
import type { OpenStoreOptions, Store } from './store.ts';
import { StoreError } from './store-error.ts';

const ACCEPTED_URLS =
  'accepted are sqlite:<file>, such as sqlite:./data/scanner.db, and mongodb://<servers>/<database>';

/**
 * Opens the store that `STORE_URL` names. Credentials in the URL never appear in an error.
 * @throws StoreError `bad_url`, and the errors of `openSqlite` and `openMongo`
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  if (url.startsWith('sqlite:')) return openSqlite(parseSqlitePath(url), options);
  // The driver is loaded only if it is used.
  if (/^mongodb(\+srv)?:/.test(url))
    return (await import('./mongo/store.ts')).openMongo(url, options);
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0];
  const problem = scheme ? `starts with "${scheme}"` : 'has no scheme';
  throw new StoreError('bad_url', `STORE_URL ${problem}: ${ACCEPTED_URLS}`);
}

/** Returns the path in `sqlite:x`, `sqlite:/x` or `sqlite:///x`. Percent-encoding is not decoded. */
function parseSqlitePath(url: string): string {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '' || path.endsWith('/') || path.startsWith('//') || path.includes('\0')) {
    throw new StoreError('bad_url', `STORE_URL "${url}" names no file: ${ACCEPTED_URLS}`);
  }
  return path;
}

/** Number of hosts in the directory of a backup, and of payments in its ledger. */
type BackupContents = { readonly hosts: number; readonly payments: number };

/**
 * Writes a consistent copy of the embedded store at `url` to a new file. A service may be using the store. A plain copy
 * of the file would lack the writes that are still in SQLite's log file (`-wal`).
 * @throws StoreError `bad_url`, `unavailable`, `conflict`, `full`, `corrupt`, `incompatible`
 */
export function backupStore(url: string, target: string): BackupContents {
  const path = requireSqlitePath(url);
  if (!existsSync(path)) {
    throw new StoreError('unavailable', `there is no store at ${path}: nothing to back up`);
  }
  if (existsSync(target)) {
    throw new StoreError('conflict', `${target} is there already: name a file that is not`);
  }
  const source = new Connection(path, path, { readOnly: true });
  try {
    makeParentFolder(target);
    return writeChecked(`${target}.partial`, target, target, (partial) => {
      source.run('VACUUM INTO ?', partial);
    });
  } finally {
    source.close();
  }
}

/**
 * Copies a backup to the path of the embedded store at `url`. Refuses if the path already has a store, or a process
 * uses it.
 * @throws StoreError `bad_url`, `locked`, `conflict`, `unavailable`, `corrupt`, `incompatible`, `full`
 */
export function restoreStore(url: string, backup: string): BackupContents {
  const path = requireSqlitePath(url);
  if (!existsSync(backup)) throw new StoreError('unavailable', `there is no backup at ${backup}`);
  makeParentFolder(path);
  const lock = lockProcess(resolve(path), path);
  try {
    const existing = [path, `${path}-wal`, `${path}-shm`].filter((file) => existsSync(file));
    if (existing.length > 0) {
      const message = `${existing.join(', ')} would be overwritten: move it away first, or name another STORE_URL`;
      throw new StoreError('conflict', message);
    }
    return writeChecked(`${path}.restoring`, path, backup, (partial) =>
      copyFileSync(backup, partial),
    );
  } finally {
    lock.release();
  }
}

function requireSqlitePath(url: string): string {
  if (url.startsWith('sqlite:')) return parseSqlitePath(url);
  const message =
    'STORE_URL names no embedded store (sqlite:<file>): a MongoDB is backed up and restored by its own tools, mongodump and mongorestore';
  throw new StoreError('bad_url', message);
}

function makeParentFolder(path: string): void {
  try {
    mkdirSync(dirname(resolve(path)), { recursive: true });
  } catch (cause) {
    throw toStoreError(cause, path);
  }
}

/** Writes, checks and syncs the file `partial`, then renames it to `path`. `name` is the path in error messages. */
function writeChecked(
  partial: string,
  path: string,
  name: string,
  write: (partial: string) => void,
): BackupContents {
  try {
    rmSync(partial, { force: true });
    write(partial);
    const contents = readContents(partial, name);
    syncFile(partial);
    renameSync(partial, path);
    syncFile(dirname(resolve(path)));
    return contents;
  } catch (cause) {
    rmSync(partial, { force: true });
    throw toStoreError(cause, path);
  }
}

/** Reads all pages of a file, so that a damaged backup is refused before anybody relies on it. */
function readContents(file: string, name: string): BackupContents {
  const connection = new Connection(file, name, { readOnly: true });
  try {
    requireSchemaVersion(connection);
    const check = connection.value('PRAGMA quick_check');
    if (check !== 'ok') throw new StoreError('corrupt', `${name} is damaged (${check})`);
    return {
      hosts: Number(connection.value('SELECT count(*) FROM records')),
      payments: Number(connection.value('SELECT count(DISTINCT key) FROM ledger')),
    };
  } finally {
    connection.close();
  }
}

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
