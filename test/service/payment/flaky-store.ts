/** A store that fails at a ledger step. */

import type { NewLedgerRow } from '../../../src/service/store/ledger.ts';
import type { LedgerState } from '../../../src/service/store/payment-tables.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { StoreError, type StoreErrorCode } from '../../../src/service/store/store-error.ts';

export type FlakyStore = {
  readonly store: Store;
  /** Queries for a turn, which count a payer's settlements first. */
  readonly settledQueries: () => number;
  /** Steps into these states fail from now on; with `writes` they are in all the same. */
  failSteps(
    states: readonly LedgerState[],
    how?: { code?: StoreErrorCode; writes?: boolean },
  ): void;
  /** The ledger does not answer which payments of a payer are recent. */
  failRecent(): void;
  heal(): void;
};

/** A store that forgets, or does not answer, when a ledger step is written. */
export function flakyStore(clock: () => number = Date.now): FlakyStore {
  const sqlite = openSqlite(MEMORY, { clock });
  let failing: ReadonlySet<LedgerState> = new Set();
  let code: StoreErrorCode = 'unavailable';
  let writes = false;
  let isRecentFailing = false;
  let settledQueries = 0;
  const ledger = {
    ...sqlite.ledger,
    async append(row: NewLedgerRow) {
      if (!failing.has(row.state)) return sqlite.ledger.append(row);
      if (writes) await sqlite.ledger.append(row);
      throw new StoreError(code, 'this step fails in the test');
    },
    async countSettled(query: Parameters<Store['ledger']['countSettled']>[0]) {
      settledQueries += 1;
      return sqlite.ledger.countSettled(query);
    },
    async findRecent(query: Parameters<Store['ledger']['findRecent']>[0]) {
      if (isRecentFailing) throw new StoreError('unavailable', 'this query fails in the test');
      return sqlite.ledger.findRecent(query);
    },
  };
  const store = new Proxy(sqlite, {
    get: (target, name, receiver) =>
      name === 'ledger' ? ledger : Reflect.get(target, name, receiver),
  });
  return {
    store,
    settledQueries: () => settledQueries,
    failSteps(states, how = {}) {
      failing = new Set(states);
      code = how.code ?? 'unavailable';
      writes = how.writes ?? false;
    },
    failRecent() {
      isRecentFailing = true;
    },
    heal() {
      failing = new Set();
      isRecentFailing = false;
    },
  };
}
