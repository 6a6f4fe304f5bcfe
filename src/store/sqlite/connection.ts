import {
  DatabaseSync,
  type SQLInputValue,
  type SQLOutputValue,
  type StatementSync,
} from 'node:sqlite';
import { StoreError, type StoreErrorCode } from '../errors.ts';

export type StoredRow = Readonly<Record<string, SQLOutputValue>>;

/** Names a store without a file; its contents are lost when the connection closes. */
export const MEMORY = ':memory:';

/**
 * A limit as a parameter. SQLite plans by the value of a bare `LIMIT ?` and compiles the statement again for each run;
 * the value of a sum does not affect the plan.
 */
export const LIMIT = 'LIMIT ? + 0';

/**
 * One synchronous connection with its prepared statements. Every statement is a literal of this
 * folder; values travel as parameters only.
 */
export class Connection {
  readonly location: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #level: 'FULL' | 'NORMAL' | null = null;

  /** @throws StoreError */
  constructor(file: string, location: string, { readOnly = false } = {}) {
    this.location = location;
    try {
      this.#database = new DatabaseSync(file, { readOnly, enableForeignKeyConstraints: false });
    } catch (cause) {
      throw toStoreError(cause, location);
    }
  }

  /** Statements without parameters or result: schema and pragmas. */
  exec(sql: string): void {
    this.#guard(() => this.#database.exec(sql));
  }

  /** Returns the number of rows written; durable when it returns. */
  run(sql: string, ...values: readonly SQLInputValue[]): number {
    return this.#write('FULL', sql, values);
  }

  /**
   * Writes without a sync: the row survives a crash of this process at once, and a loss of power after the next durable
   * write, which makes all earlier ones durable in their order.
   */
  runUnsynced(sql: string, ...values: readonly SQLInputValue[]): number {
    return this.#write('NORMAL', sql, values);
  }

  row(sql: string, ...values: readonly SQLInputValue[]): StoredRow | null {
    return this.#guard(() => this.#statement(sql).get(...values)) ?? null;
  }

  rows(sql: string, ...values: readonly SQLInputValue[]): readonly StoredRow[] {
    return this.#guard(() => this.#statement(sql).all(...values));
  }

  /** The first column of each row. */
  values(sql: string, ...values: readonly SQLInputValue[]): readonly SQLOutputValue[] {
    return this.rows(sql, ...values).flatMap((row) => Object.values(row).slice(0, 1));
  }

  /** The first column of the first row; null without rows. */
  value(sql: string, ...values: readonly SQLInputValue[]): SQLOutputValue {
    return this.values(sql, ...values)[0] ?? null;
  }

  /** Runs `work` in a transaction, durable when it returns. `work` is synchronous and does not nest. */
  transaction<T>(work: () => T): T {
    return this.#guard(() => {
      this.run('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.#statement('COMMIT').run();
        return result;
      } catch (cause) {
        // A full disk rolls back by itself; a second ROLLBACK would hide the first error.
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

  #write(level: 'FULL' | 'NORMAL', sql: string, values: readonly SQLInputValue[]): number {
    return this.#guard(() => {
      // SQLite refuses another level within a transaction; its commit decides for all of it.
      if (level !== this.#level && !this.#database.isTransaction) {
        this.#database.exec(`PRAGMA synchronous = ${level}`);
        this.#level = level;
      }
      return Number(this.#statement(sql).run(...values).changes);
    });
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
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
const CODES: Readonly<Record<number, StoreErrorCode>> = {
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
  // Extended codes carry the primary one in their low byte.
  const code = CODES[errcode & 0xff] ?? 'unavailable';
  const said = cause instanceof Error ? cause.message : String(cause);
  const advice = ADVICE[code] ?? 'see the cause';
  return new StoreError(code, `the store ${location} failed (${said}): ${advice}`, { cause });
}

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
    const error = toStoreError(cause, location);
    if (error.code !== 'locked') throw error;
    const message = `the store ${location} is in use by another process: stop that one, or give this one its own STORE_URL (instances share a mongodb:// store)`;
    throw new StoreError('locked', message, { cause });
  }
  const fileLock = lock;
  return {
    release() {
      if (fileLock.isOpen) fileLock.close();
    },
  };
}
