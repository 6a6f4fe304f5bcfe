/** What every part of the embedded store is given. */
import type { Owner } from '../contract/owner.ts';
import type { Connection } from './connection.ts';
import type { RecordRows } from './record-rows.ts';

/** What each part of the embedded store works with. */
export type SqliteContext = {
  readonly connection: Connection;
  readonly owner: Owner;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Forgets a host in whatever writes its record, a preference or a proof. */
  readonly recordRows: RecordRows;
};
