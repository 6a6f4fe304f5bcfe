/** The embedded store: opens the file and puts the parts together. */
import { mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { newOwner } from '../contract/owner.ts';
import type { Store } from '../contract/store.ts';
import type { OpenStoreOptions } from '../open-store-options.ts';
import { sharesOn } from '../shared/shares.ts';
import { sqliteAnswers } from './answers.ts';
import { sqliteChanges } from './changes.ts';
import { Connection, MEMORY } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { sqliteDirectory } from './directory.ts';
import { sqliteError } from './error.ts';
import { sqliteExports } from './exports.ts';
import { sqliteHistory } from './history.ts';
import { sqliteIdentifiers } from './identifiers.ts';
import { sqliteInstances } from './instances.ts';
import { sqliteLeases } from './leases.ts';
import { sqliteLedger } from './ledger.ts';
import { sqliteListing } from './listing.ts';
import { MemoryLimits } from './memory-limits.ts';
import { migrate } from './migrate.ts';
import { sqliteOwnership } from './ownership.ts';
import { lockProcess } from './process-lock.ts';
import { publishToSqlite } from './publish.ts';
import { purgeSqlite } from './purge.ts';
import { sqliteResults } from './results.ts';
import { sqliteSlots } from './slots.ts';
import { sqliteSnapshots } from './snapshots.ts';

export { MEMORY };

export type SqliteOptions = OpenStoreOptions & {
  /** The most 4 KiB pages that the file may have; beyond them writes are refused as `full`. */
  readonly maxPages?: number | undefined;
};

/**
 * The embedded store: one file, one process. WAL with full sync: what a method has answered
 * survives SIGKILL and power loss; leases and shares survive SIGKILL alone, as they end with the process that holds them.
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
  const slots = sqliteSlots(context);
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
    ownership: sqliteOwnership(context, slots),
    slots,
    listing: sqliteListing(context),
    leases: sqliteLeases(context),
    shares: sharesOn(slots),
    limits,
    snapshots: sqliteSnapshots(context),
    instances: sqliteInstances(context),
    now,
    async publish(scan) {
      publishToSqlite(context, scan);
    },
    async ping() {
      connection.get('SELECT EXISTS (SELECT 1 FROM listing)');
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
