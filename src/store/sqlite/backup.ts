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
import { StoreError } from '../errors.ts';
import { Connection, lockProcess, toStoreError } from './connection.ts';
import { requireVersion } from './schema.ts';

/** Numbers of rows in a backup. */
export type BackedUp = { readonly hosts: number; readonly payments: number };

/**
 * Writes a consistent copy of a store to a new file; a service may be using the store. A plain copy of the file would
 * lack the writes that are still in the log beside it (`-wal`).
 * @throws StoreError `unavailable`, `conflict`, `full`, `corrupt`, `incompatible`
 */
export function backupSqlite(path: string, target: string): BackedUp {
  if (!existsSync(path)) {
    throw new StoreError('unavailable', `there is no store at ${path}: nothing to back up`);
  }
  if (existsSync(target)) {
    throw new StoreError('conflict', `${target} is there already: name a file that is not`);
  }
  const source = new Connection(path, path, { readOnly: true });
  try {
    makeFolder(target);
    return place(`${target}.partial`, target, target, (partial) => {
      source.run('VACUUM INTO ?', partial);
    });
  } finally {
    source.close();
  }
}

/**
 * Copies a backup to the path of a store. Refuses when there is a store already, or a process uses it.
 * @throws StoreError `locked`, `conflict`, `unavailable`, `corrupt`, `incompatible`, `full`
 */
export function restoreSqlite(backup: string, path: string): BackedUp {
  if (!existsSync(backup)) throw new StoreError('unavailable', `there is no backup at ${backup}`);
  makeFolder(path);
  const lock = lockProcess(resolve(path), path);
  try {
    const there = [path, `${path}-wal`, `${path}-shm`].filter((file) => existsSync(file));
    if (there.length > 0) {
      const message = `${there.join(', ')} would be overwritten: move it away first, or name another STORE_URL`;
      throw new StoreError('conflict', message);
    }
    return place(`${path}.restoring`, path, backup, (partial) => copyFileSync(backup, partial));
  } finally {
    lock.release();
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(resolve(path)), { recursive: true });
  } catch (cause) {
    throw toStoreError(cause, path);
  }
}

/** Writes a temporary file, and renames it once it is complete, checked and synced. */
function place(
  partial: string,
  path: string,
  name: string,
  write: (partial: string) => void,
): BackedUp {
  try {
    rmSync(partial, { force: true });
    write(partial);
    const contents = inspect(partial, name);
    sync(partial);
    renameSync(partial, path);
    sync(dirname(resolve(path)));
    return contents;
  } catch (cause) {
    rmSync(partial, { force: true });
    throw toStoreError(cause, path);
  }
}

/** Reads every page of a file, so that a damaged backup is refused now and not when it is needed. */
function inspect(file: string, name: string): BackedUp {
  const connection = new Connection(file, name, { readOnly: true });
  try {
    requireVersion(connection);
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

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
