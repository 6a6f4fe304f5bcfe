import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../contract/store-error.ts';
import { sqliteError } from './error.ts';

export type ProcessLock = { release(): void };

/**
 * One process per embedded store. The lock is SQLite's exclusive lock on an empty file beside the
 * database: the kernel drops it when its holder dies, however it dies, and the database itself stays
 * readable for backups.
 * @throws StoreError `locked` when another process holds it
 */
export function lockProcess(file: string, location: string): ProcessLock {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(`${file}.lock`, { timeout: 0 });
    // No journal file: nothing is ever written.
    lock.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock?.close();
    const error = sqliteError(cause, location);
    if (error.code !== 'locked') throw error;
    const message = `the store ${location} is in use by another process: stop that one, or give this one its own STORE_URL (hosts share a mongodb:// store)`;
    throw new StoreError('locked', message, { cause });
  }
  const held = lock;
  return {
    release() {
      if (held.isOpen) held.close();
    },
  };
}
