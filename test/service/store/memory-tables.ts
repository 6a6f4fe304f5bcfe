/** A third engine, only in memory, shows that `Table` suffices for the whole contract. */

import type { PayableFilter } from '../../../src/scanner/model/payability.ts';
import { toWeekDayPattern } from '../../../src/service/store/census.ts';
import type { EngineContext, RecordLists } from '../../../src/service/store/context.ts';
import { findExcludedHosts } from '../../../src/service/store/exclusions.ts';
import { findOptedOutHosts, findVerifiedHosts } from '../../../src/service/store/owners.ts';
import { type InstanceId, newInstanceId } from '../../../src/service/store/payment-tables.ts';
import {
  createStore,
  type OpenStoreOptions,
  type Store,
} from '../../../src/service/store/store.ts';
import { StoreError } from '../../../src/service/store/store-error.ts';
import {
  type AnyRow,
  type AnyTableSpec,
  BATCH_ROWS,
  type EngineTable,
  joinId,
  openTables,
  pickColumns,
  type RangeOptions,
  toComparisons,
  type Where,
} from '../../../src/service/store/table.ts';
import { type Row, TABLES } from '../../../src/service/store/tables.ts';

/** The stored rows, which a restart finds again. */
export type Memory = Map<string, Map<string, AnyRow>>;

export function openMemory(memory: Memory, options: OpenStoreOptions = {}): Store {
  const { clock: now = Date.now, owner = newInstanceId() } = options;
  let isClosed = false;
  const opened = () => {
    if (isClosed) throw new StoreError('unavailable', 'the store in memory is closed');
    return memory;
  };
  const tables = openTables(TABLES, (spec) => memoryTable(opened, spec));
  const context: EngineContext = {
    tables,
    lists: memoryLists({ tables, now }),
    owner,
    isAlive: async ({ boot }: InstanceId) => boot === owner.boot,
    now,
  };
  return createStore(context, {
    info: { kind: 'sqlite', location: 'memory' },
    async ping() {
      await tables.owners.first({});
    },
    async close() {
      isClosed = true;
    },
  });
}

function memoryTable(memory: () => Memory, spec: AnyTableSpec): EngineTable {
  function rows(): Map<string, AnyRow> {
    const stored = memory().get(spec.name) ?? new Map<string, AnyRow>();
    memory().set(spec.name, stored);
    return stored;
  }
  const keyOf = (row: AnyRow) => joinId(...spec.key.map((column) => String(row[column])));

  function find(where: Where<AnyRow>, { order = [], limit }: RangeOptions<AnyRow> = {}): AnyRow[] {
    const found = [...rows().values()].filter((row) => matchesWhere(row, where));
    found.sort((a, b) => {
      for (const [column, way] of order) {
        const sign = compare(a[column], b[column]);
        if (sign !== 0) return way === 'asc' ? sign : -sign;
      }
      return 0;
    });
    return found.slice(0, limit);
  }

  function isTaken(row: AnyRow): boolean {
    const isSame = (columns: readonly string[]) => find(pickColumns(row, columns)).length > 0;
    return rows().has(keyOf(row)) || (spec.unique ?? []).some(isSame);
  }

  return {
    async insert(row) {
      if (isTaken(row)) return false;
      rows().set(keyOf(row), { ...row });
      return true;
    },
    get: async (...key) => rows().get(joinId(...key.map(String))) ?? null,
    first: async (where, options) => find(where, options)[0] ?? null,
    all: async (where, options) => find(where, options),
    async *batchesOf(where) {
      yield find(where);
    },

    async *batches(where, { size = BATCH_ROWS, ...options } = {}) {
      const found = find(where, options);
      for (let at = 0; at < found.length; at += size) yield found.slice(at, at + size);
    },
    async set(row, members, only = {}) {
      const storedRow = rows().get(keyOf(row));
      if (storedRow !== undefined && matchesWhere(storedRow, only))
        rows().set(keyOf(row), { ...storedRow, ...members });
    },
    remove: async (where) => removeAll(where),
    removeInBatches: async (where) => removeAll(where),
  };

  function removeAll(where: Where<AnyRow>): number {
    const removedRows = find(where);
    for (const row of removedRows) rows().delete(keyOf(row));
    return removedRows.length;
  }
}

function matchesWhere(row: AnyRow, where: Where<AnyRow>): boolean {
  return toComparisons(where).every(({ column, operator, value }) => {
    const cell = row[column];
    if (operator === 'equal') return cell === value;
    if (operator === 'not') return cell !== value;
    if (operator === 'in') return Array.isArray(value) && value.includes(cell);
    if (operator === 'notIn') return Array.isArray(value) && !value.includes(cell);
    if (typeof cell !== 'number' || typeof value !== 'number') return false;
    if (operator === 'from') return cell >= value;
    if (operator === 'after') return cell > value;
    return operator === 'upTo' ? cell <= value : cell < value;
  });
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [String(a), String(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function memoryLists(context: Pick<EngineContext, 'tables' | 'now'>): RecordLists {
  const newest = (a: Row<'records'>, b: Row<'records'>) =>
    b.scannedAtMs - a.scannedAtMs || compare(a.host, b.host);
  const best = (a: Row<'records'>, b: Row<'records'>) =>
    compare(a.grade, b.grade) || b.score - a.score || newest(a, b);
  const firstSeen = (a: Row<'records'>, b: Row<'records'>) =>
    b.firstSeenAtMs - a.firstSeenAtMs || compare(a.host, b.host);
  async function shown(): Promise<readonly Row<'records'>[]> {
    const hidden = new Set(await findOptedOutHosts(context));
    const excluded = new Set(await findExcludedHosts(context));
    const reached = await context.tables.records.all({ reached: true });
    const isExcluded = ({ host, paidBy }: Row<'records'>) =>
      paidBy === 'census' && excluded.has(host);
    return reached.filter((row) => !hidden.has(row.host) && !isExcluded(row));
  }
  return {
    async list({ sort, category, verified, q, grade, payable, sinceMs = 0, page, pageSize }) {
      const proved = verified ? new Set(await findVerifiedHosts(context)) : null;
      const found = (await shown())
        .filter((row) => proved?.has(row.host) ?? true)
        .filter((row) => category === undefined || row.category === category)
        .filter((row) => row.host.includes(q) && row.scannedAtMs >= sinceMs)
        .filter((row) => grade === undefined || row.grade === grade)
        .filter((row) => payable === undefined || isPayable(row, payable, context.now()))
        .toSorted({ recent: newest, grade: best, new: firstSeen }[sort]);
      return pageOf(found, found.slice(page * pageSize, (page + 1) * pageSize));
    },
    async countByGrade() {
      const groups = Map.groupBy(await shown(), ({ grade }) => grade);
      return new Map([...groups].map(([grade, rows]) => [grade, rows.length]));
    },
    async findNewestHosts(limit) {
      return (await shown())
        .toSorted(newest)
        .slice(0, limit)
        .map(({ host }) => host);
    },
  };
}

function isPayable(row: Row<'records'>, payable: PayableFilter, nowMs: number): boolean {
  if (payable === 'today') return (row.payableUntilMs ?? 0) > nowMs;
  return row.payableWeekDays?.includes(toWeekDayPattern(nowMs)) ?? false;
}

function pageOf(found: readonly Row<'records'>[], page: readonly Row<'records'>[]) {
  return { count: found.length, hosts: page.map(({ host }) => host) };
}
