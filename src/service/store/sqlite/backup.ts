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
import { StoreError } from '../store-error.ts';
import { Connection, lockProcess, toStoreError } from './database.ts';
import { requireSchemaVersion } from './store.ts';

/** Number of hosts in the directory of a backup, and of payments in its ledger. */
export type BackupContents = { readonly hosts: number; readonly payments: number };

/**
 * Writes a consistent copy of a store to a new file. A service may be using the store. A plain copy of the file would
 * lack the writes that are still in SQLite's log file (`-wal`).
 * @throws StoreError `unavailable`, `conflict`, `full`, `corrupt`, `incompatible`
 */
export function backupSqlite(path: string, target: string): BackupContents {
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
 * Copies a backup to the path of a store. Refuses if the path already has a store, or a process uses it.
 * @throws StoreError `locked`, `conflict`, `unavailable`, `corrupt`, `incompatible`, `full`
 */
export function restoreSqlite(backup: string, path: string): BackupContents {
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

function makeParentFolder(path: string): void {
  try {
    mkdirSync(dirname(resolve(path)), { recursive: true });
  } catch (cause) {
    throw toStoreError(cause, path);
  }
}

/**
 * Writes a temporary file, checks and syncs it, and then renames it to `path`.
 * @param partial path of the temporary file
 * @param name path for error messages
 */
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
