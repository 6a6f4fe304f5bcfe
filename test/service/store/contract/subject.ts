import type { OpenStoreOptions, Store } from '../../../../src/service/store/store.ts';

/** A kind of store under the contract suite. The subject closes what it opened after each test. */
export type ContractSubject = {
  /** Number of random operations; they should take a few seconds. */
  readonly operations: number;
  /** Opens a store on an empty database. */
  fresh(options?: OpenStoreOptions): Promise<Store>;
  /** Closes the store and opens the same database again, as a restart does. */
  restart(store: Store, options?: OpenStoreOptions): Promise<Store>;
  /** Gives a host this many published scans, one a millisecond from `firstMs` on. */
  seedHistory(store: Store, host: string, rows: number, firstMs: number): Promise<void>;
};
