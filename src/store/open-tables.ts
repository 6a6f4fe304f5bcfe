import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from './errors.ts';
import {
  type AnyRow,
  type AnyTableSpec,
  type EngineTable,
  type InsertOutcome,
  pick,
  type Table,
  type TablesOf,
  type Where,
} from './table.ts';

/** Time within which a decision is retried after a lost reply or an uncommitted conflicting row. */
const DECIDE_WITHIN_MS = 5_000;
const RETRY_DELAY_MS = 50;

export function openTables<Specs extends Readonly<Record<string, AnyTableSpec>>>(
  specs: Specs,
  open: (spec: AnyTableSpec) => EngineTable,
): TablesOf<Specs> {
  const tables = Object.entries(specs).map(([name, spec]) => {
    const table = open(spec);
    return [name, { ...table, decide: (row: AnyRow) => decide(table, spec, row) }];
  });
  // The compiler cannot follow names through entries: each table was opened by the specification of its name.
  return Object.fromEntries(tables) as TablesOf<Specs>;
}

async function decide(table: EngineTable, spec: AnyTableSpec, row: AnyRow): Promise<InsertOutcome> {
  const deadlineMs = performance.now() + DECIDE_WITHIN_MS;
  for (;;) {
    try {
      if (await table.insert(row)) return 'won';
      const holder = await findHolder(table, spec, row);
      if (holder) return holder['attempt'] === row['attempt'] ? 'won' : 'lost';
      // A shared database may refuse a row for one that is not yet with a majority, and may still vanish.
      const message = 'a row of the database is not with a majority of its servers: check them';
      throw new StoreError('unavailable', message, { mayRetry: true });
    } catch (error) {
      const mayRetry = error instanceof StoreError && error.mayRetry;
      if (!mayRetry || performance.now() > deadlineMs) throw error;
      await delay(RETRY_DELAY_MS);
    }
  }
}

/** Finds the row that holds a unique key of this one. */
async function findHolder(
  table: EngineTable,
  { key, unique = [] }: AnyTableSpec,
  row: AnyRow,
): Promise<AnyRow | null> {
  for (const columns of [key, ...unique]) {
    const holder = await table.first(pick(row, columns));
    if (holder) return holder;
  }
  return null;
}

/**
 * Decides a row that continues a sequence. A purge may remove the whole sequence during the insert, and another writer
 * may then start again at 1. A row whose predecessor is gone has therefore lost.
 * @param previous the key of the predecessor; null: the row begins a sequence
 * @param own finds this row alone
 */
export async function decideNext<R>(
  table: Table<R>,
  row: R,
  previous: readonly [string, number] | null,
  own: Where<R>,
): Promise<InsertOutcome> {
  const outcome = await table.decide(row);
  if (outcome === 'lost' || previous === null || (await table.get(...previous))) return outcome;
  await table.remove(own);
  return 'lost';
}
