import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { EngineContext } from '../context.ts';
import { newInstanceId } from '../payment-tables.ts';
import { type OpenStoreOptions, type Store, storeOn } from '../store.ts';
import { openTables } from '../table.ts';
import { TABLES, type Tables } from '../tables.ts';
import { Connection, lockProcess, MEMORY, type ProcessLock, toStoreError } from './connection.ts';
import { sqliteLists } from './record-lists.ts';
import { openSchema } from './schema.ts';
import { sqliteTable } from './table.ts';

export { MEMORY };

export type SqliteOptions = OpenStoreOptions & {
  /** Maximum of 4 KiB pages in the file; writes beyond it are refused as `full`. */
  readonly maxPages?: number | undefined;
};

/**
 * Opens the embedded store, which one process uses. Its write-ahead log (WAL) keeps all completed writes after
 * SIGKILL. A write survives a loss of power once it, or a later one, is synced (see `TableSpec.syncsLater`).
 * @param path a file, whose folder is created if it is missing; or `:memory:`
 * @throws StoreError `locked`, `incompatible`, `unavailable`, `full`, `corrupt`
 */
export function openSqlite(path: string, options: SqliteOptions = {}): Store {
  let lock: ProcessLock | undefined;
  let connection: Connection | undefined;
  try {
    const file = path === MEMORY ? path : prepareFile(path);
    if (file !== MEMORY) lock = lockProcess(file, path);
    connection = new Connection(file, path);
    connection.exec('PRAGMA journal_mode = WAL');
    if (options.maxPages) connection.exec(`PRAGMA max_page_count = ${options.maxPages}`);
    openSchema(connection);
    return assemble(connection, path, options, () => lock?.release());
  } catch (cause) {
    connection?.close();
    lock?.release();
    throw toStoreError(cause, path);
  }
}

function assemble(
  connection: Connection,
  path: string,
  { clock: now = Date.now, owner = newInstanceId() }: SqliteOptions,
  unlock: () => void,
): Store {
  const context: EngineContext = {
    tables: sqliteTables(connection),
    lists: sqliteLists(connection, now),
    owner,
    // Only one process uses the file, so all other processes that wrote rows have ended.
    isAlive: async ({ boot }) => boot === owner.boot,
    now,
  };
  return storeOn(context, {
    info: { kind: 'sqlite', location: path },
    async ping() {
      connection.value('SELECT EXISTS (SELECT 1 FROM owners)');
    },
    async close() {
      connection.close();
      unlock();
    },
  });
}

export function sqliteTables(connection: Connection): Tables {
  return openTables(TABLES, (spec) => sqliteTable(connection, spec));
}

/** Creates the folder of a file and resolves links, so that all paths to the same file use the same lock. */
function prepareFile(path: string): string {
  const file = resolve(path);
  mkdirSync(dirname(file), { recursive: true });
  const canonical = join(realpathSync(dirname(file)), basename(file));
  return existsSync(canonical) ? realpathSync(canonical) : canonical;
}
