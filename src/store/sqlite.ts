import { mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { OpenStoreOptions } from './open-store-options.ts';
import { newOwner } from './rules/new-owner.ts';
import { Connection } from './sqlite/connection.ts';
import { MemoryLimits } from './sqlite/memory-limits.ts';
import { migrate } from './sqlite/migrate.ts';
import { lockProcess } from './sqlite/process-lock.ts';
import { sqliteAnswers } from './sqlite/sqlite-answers.ts';
import { sqliteChanges } from './sqlite/sqlite-changes.ts';
import type { SqliteContext } from './sqlite/sqlite-context.ts';
import { sqliteDirectory } from './sqlite/sqlite-directory.ts';
import { sqliteError } from './sqlite/sqlite-error.ts';
import { sqliteExports } from './sqlite/sqlite-exports.ts';
import { sqliteHistory } from './sqlite/sqlite-history.ts';
import { sqliteHosts } from './sqlite/sqlite-hosts.ts';
import { sqliteIdentifiers } from './sqlite/sqlite-identifiers.ts';
import { sqliteLeases } from './sqlite/sqlite-leases.ts';
import { sqliteLedger } from './sqlite/sqlite-ledger.ts';
import { sqliteListing } from './sqlite/sqlite-listing.ts';
import { sqliteOwnership } from './sqlite/sqlite-ownership.ts';
import { publishToSqlite } from './sqlite/sqlite-publish.ts';
import { purgeSqlite } from './sqlite/sqlite-purge.ts';
import { sqliteResults } from './sqlite/sqlite-results.ts';
import { sqliteSnapshots } from './sqlite/sqlite-snapshots.ts';
import type { Store } from './store.ts';

export const MEMORY = ':memory:';

export interface SqliteOptions extends OpenStoreOptions {
  /** The most 4 KiB pages that the file may have; beyond them writes are refused as `full`. */
  readonly maxPages?: number | undefined;
}

/**
 * The embedded store: one file, one process. WAL with full sync: what a method has answered
 * survives SIGKILL and power loss.
 * @param path a file (its folder is made), or `:memory:`
 * @throws StoreError `locked`, `incompatible`, `unavailable`, `full`, `corrupt`
 */
export function openSqlite(path: string, options: SqliteOptions = {}): Store {
  const file = path === MEMORY ? path : canonicalFile(path);
  const lock = path === MEMORY ? null : lockProcess(file, path);
  let connection: Connection | undefined;
  try {
    connection = new Connection(file, path);
    connection.exec('PRAGMA journal_mode = WAL');
    connection.exec('PRAGMA synchronous = FULL');
    if (options.maxPages) connection.exec(`PRAGMA max_page_count = ${options.maxPages}`);
    migrate(connection);
    return storeOn(connection, path, options, () => lock?.release());
  } catch (cause) {
    connection?.close();
    lock?.release();
    throw sqliteError(cause, path);
  }
}

function storeOn(
  connection: Connection,
  path: string,
  { clock: now = Date.now, owner = newOwner() }: SqliteOptions,
  unlock: () => void,
): Store {
  const context: SqliteContext = { connection, now, owner };
  const limits = new MemoryLimits(now);
  return {
    info: { kind: 'sqlite', location: path, shared: false, owner },
    ledger: sqliteLedger(context),
    answers: sqliteAnswers(context),
    identifiers: sqliteIdentifiers(context),
    results: sqliteResults(context),
    directory: sqliteDirectory(context),
    history: sqliteHistory(context),
    exports: sqliteExports(context),
    changes: sqliteChanges(context),
    ownership: sqliteOwnership(context),
    listing: sqliteListing(context),
    leases: sqliteLeases(context),
    limits,
    snapshots: sqliteSnapshots(context),
    hosts: sqliteHosts(context),
    now,
    async publish(scan) {
      publishToSqlite(context, scan);
    },
    async ping() {
      connection.get('SELECT count(*) FROM listing');
    },
    async purge(nowMs) {
      const report = await purgeSqlite(context, nowMs);
      return { ...report, other: report.other + limits.purge(nowMs) };
    },
    async close() {
      connection.close();
      unlock();
    },
  };
}

/** The same file has the same lock, by whatever path or link it is reached. */
function canonicalFile(path: string): string {
  const file = resolve(path);
  try {
    mkdirSync(dirname(file), { recursive: true });
    const folder = realpathSync(dirname(file));
    return realpathIfThere(join(folder, basename(file)));
  } catch (cause) {
    throw sqliteError(cause, path);
  }
}

function realpathIfThere(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
