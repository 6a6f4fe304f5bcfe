import {
  DatabaseSync,
  type SQLInputValue,
  type SQLOutputValue,
  type StatementSync,
} from 'node:sqlite';
import { messageOf } from '../../../scanner/model/redact.ts';
import { StoreError, type StoreErrorCode } from '../store-error.ts';

export type StoredRow = Readonly<Record<string, SQLOutputValue>>;

/**
 * A limit as a parameter. SQLite would adapt its plan to the value of a plain `LIMIT ?`, and compile the statement
 * again for each run. The value of `? + 0` does not affect the plan.
 */
export const LIMIT = 'LIMIT ? + 0';

/** Every statement is a literal of this folder; values travel as parameters only. */
export class Connection {
  /** Names the database in error messages. */
  readonly location: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** The present value of `PRAGMA synchronous`; null if it was not set yet. */
  #syncLevel: 'FULL' | 'NORMAL' | null = null;

  /** @throws StoreError */
  constructor(file: string, location: string, { readOnly = false } = {}) {
    this.location = location;
    try {
      this.#database = new DatabaseSync(file, { readOnly, enableForeignKeyConstraints: false });
    } catch (cause) {
      throw toStoreError(cause, location);
    }
  }

  /** Runs statements without parameters and results, such as pragmas. */
  exec(sql: string): void {
    this.#guard(() => this.#database.exec(sql));
  }

  /** Runs a write that is durable when this returns. Returns the number of written rows. */
  run(sql: string, ...parameters: readonly SQLInputValue[]): number {
    return this.#write('FULL', sql, parameters);
  }

  /** The row survives a crash of this process, but a loss of power only after the next durable write of any row. */
  runUnsynced(sql: string, ...parameters: readonly SQLInputValue[]): number {
    return this.#write('NORMAL', sql, parameters);
  }

  row(sql: string, ...parameters: readonly SQLInputValue[]): StoredRow | null {
    return this.#guard(() => this.#statement(sql).get(...parameters)) ?? null;
  }

  rows(sql: string, ...parameters: readonly SQLInputValue[]): readonly StoredRow[] {
    return this.#guard(() => this.#statement(sql).all(...parameters));
  }

  /** Returns the first column of each row. */
  values(sql: string, ...parameters: readonly SQLInputValue[]): readonly SQLOutputValue[] {
    return this.rows(sql, ...parameters).flatMap((row) => Object.values(row).slice(0, 1));
  }

  /** Returns the first column of the first row; null without rows. */
  value(sql: string, ...parameters: readonly SQLInputValue[]): SQLOutputValue {
    return this.values(sql, ...parameters)[0] ?? null;
  }

  /** Runs `work` in a transaction, durable when this returns. `work` is synchronous, and begins no transaction. */
  transaction<T>(work: () => T): T {
    return this.#guard(() => {
      this.run('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.#statement('COMMIT').run();
        return result;
      } catch (cause) {
        // SQLite itself rolls back if the disk is full. Another ROLLBACK would fail and hide the first error.
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw cause;
      }
    });
  }

  close(): void {
    if (!this.#database.isOpen) return;
    this.#statements.clear();
    this.#guard(() => this.#database.close());
  }

  #write(syncLevel: 'FULL' | 'NORMAL', sql: string, parameters: readonly SQLInputValue[]): number {
    return this.#guard(() => {
      // SQLite refuses to change the level within a transaction. The level at its COMMIT applies to all its writes.
      if (syncLevel !== this.#syncLevel && !this.#database.isTransaction) {
        this.#database.exec(`PRAGMA synchronous = ${syncLevel}`);
        this.#syncLevel = syncLevel;
      }
      return Number(this.#statement(sql).run(...parameters).changes);
    });
  }

  #statement(sql: string): StatementSync {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
    const prepared = this.#database.prepare(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }

  #guard<T>(work: () => T): T {
    if (!this.#database.isOpen) {
      throw new StoreError('unavailable', `the store ${this.location} is closed; open it again`);
    }
    try {
      return work();
    } catch (cause) {
      throw toStoreError(cause, this.location);
    }
  }
}

/** Primary result codes, https://www.sqlite.org/rescode.html */
const ERROR_CODES: Readonly<Record<number, StoreErrorCode>> = {
  5: 'locked', // SQLITE_BUSY
  8: 'unavailable', // SQLITE_READONLY
  10: 'unavailable', // SQLITE_IOERR
  11: 'corrupt', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'unavailable', // SQLITE_CANTOPEN
  26: 'corrupt', // SQLITE_NOTADB
};

const ADVICE: Readonly<Partial<Record<StoreErrorCode, string>>> = {
  locked: 'another program holds a lock on it; close that program',
  unavailable: 'check that the disk is there and that this user may write the folder',
  corrupt: 'it is damaged or no database of ours; restore it from a backup',
  full: 'there is no room to write; free some space. What was stored before is intact',
};

/** Converts any error of `node:sqlite`. */
export function toStoreError(cause: unknown, location: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const errcode = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) : -1;
  // The low byte of an extended result code is the primary code.
  const code = ERROR_CODES[errcode & 0xff] ?? 'unavailable';
  const reason = messageOf(cause);
  const advice = ADVICE[code] ?? 'see the cause';
  return new StoreError(code, `the store ${location} failed (${reason}): ${advice}`, { cause });
}

export type ProcessLock = { release(): void };

/**
 * Locks an embedded store for this process. The lock is SQLite's exclusive lock on an empty file beside the database.
 * The kernel releases it when the process ends for any reason. The database itself stays readable for backups.
 * @throws StoreError `locked` when another process holds it
 */
export function lockProcess(file: string, location: string): ProcessLock {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(`${file}.lock`, { timeout: 0 });
    // Nothing is ever written, so no journal is needed.
    lock.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock?.close();
    const error = toStoreError(cause, location);
    if (error.code !== 'locked') throw error;
    const message = `the store ${location} is in use by another process: stop that one, or give this one its own STORE_URL (instances share a mongodb:// store)`;
    throw new StoreError('locked', message, { cause });
  }
  return {
    release() {
      if (lock.isOpen) lock.close();
    },
  };
}
