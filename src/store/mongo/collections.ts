import type { CollectionOptions, Db, IndexDescription } from 'mongodb';
import type { TableShape } from '../shared/table.ts';
import { TABLES, type Tables } from '../shared/tables.ts';
import { Collected, type CollectedHome, type Document } from './collected.ts';
import type * as documents from './documents.ts';
import { mongoTable, type StoredDocument } from './table.ts';

/** Collections beside the tables of every store. */
export type OwnCollections = {
  readonly limits: Collected<documents.LimitDocument>;
  readonly instances: Collected<documents.InstanceDocument>;
};

export function mongoTables(database: Db, home: CollectedHome): Tables {
  const rows = (spec: TableShape) => documentsOf(database, home, spec.name);
  return {
    ledger: mongoTable(rows(TABLES.ledger), TABLES.ledger),
    ledgerOpen: mongoTable(rows(TABLES.ledgerOpen), TABLES.ledgerOpen),
    ledgerWritten: mongoTable(rows(TABLES.ledgerWritten), TABLES.ledgerWritten),
    answers: mongoTable(rows(TABLES.answers), TABLES.answers),
    answerChunks: mongoTable(rows(TABLES.answerChunks), TABLES.answerChunks),
    results: mongoTable(rows(TABLES.results), TABLES.results),
    reports: mongoTable(rows(TABLES.reports), TABLES.reports),
    identifiers: mongoTable(rows(TABLES.identifiers), TABLES.identifiers),
    unpaid: mongoTable(rows(TABLES.unpaid), TABLES.unpaid),
    history: mongoTable(rows(TABLES.history), TABLES.history),
    records: mongoTable(rows(TABLES.records), TABLES.records),
    changes: mongoTable(rows(TABLES.changes), TABLES.changes),
    owners: mongoTable(rows(TABLES.owners), TABLES.owners),
    slots: mongoTable(rows(TABLES.slots), TABLES.slots),
    leases: mongoTable(rows(TABLES.leases), TABLES.leases),
    snapshots: mongoTable(rows(TABLES.snapshots), TABLES.snapshots),
    verdicts: mongoTable(rows(TABLES.verdicts), TABLES.verdicts),
  };
}

/** The rows of a table as they are stored. */
export function documentsOf(
  database: Db,
  home: CollectedHome,
  name: string,
): Collected<StoredDocument> {
  return new Collected(database.collection<StoredDocument>(name), home);
}

export function ownCollections(database: Db, home: CollectedHome): OwnCollections {
  return {
    // A lost count lets a few more requests through; each request would wait for a majority.
    limits: collected('limits', { writeConcern: { w: 1, journal: false } }),
    instances: collected('instances'),
  };

  function collected<T extends Document>(name: string, options?: CollectionOptions): Collected<T> {
    return new Collected(database.collection<T>(name, options), home);
  }
}

const by = (key: Record<string, 1 | -1>): IndexDescription => ({ key });

/** What lists of the directory are found by. */
const LISTS: readonly IndexDescription[] = [
  by({ scannedAtMs: -1, _id: 1 }),
  by({ grade: 1, score: -1, scannedAtMs: -1, _id: 1 }),
  by({ grade: 1, scannedAtMs: -1, _id: 1 }),
  by({ category: 1, scannedAtMs: -1, _id: 1 }),
  by({ category: 1, grade: 1, score: -1, scannedAtMs: -1, _id: 1 }),
];

/**
 * Every collection with its indexes beside `_id`. None of them expires rows or covers a part of
 * them only: servers that merely speak MongoDB's protocol refuse those.
 */
export function indexesOf(): ReadonlyMap<string, readonly IndexDescription[]> {
  return new Map([
    ...Object.values(TABLES).map((spec): [string, readonly IndexDescription[]] => [
      spec.name,
      [...tableIndexes(spec), ...(spec.name === 'records' ? LISTS : [])],
    ]),
    ['limits', [by({ resetAtMs: 1 })]],
    ['instances', [by({ beatAtMs: 1 })]],
  ]);
}

function tableIndexes({ key, unique = [], indexes = [] }: TableShape): IndexDescription[] {
  const ascending = (columns: readonly string[]) =>
    Object.fromEntries(columns.map((column) => [column, 1 as const]));
  return [
    // A key of several columns is read by the first of them, too.
    ...(key.length > 1 ? [by(ascending(key))] : []),
    ...unique.map((columns): IndexDescription => ({ key: ascending(columns), unique: true })),
    ...indexes.map((columns) => by(ascending(columns))),
  ];
}
