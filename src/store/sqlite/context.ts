import type { Owner } from '../contract/owner.ts';
import type { Connection } from './connection.ts';

/** What each part of the embedded store works with. */
export type SqliteContext = {
  readonly connection: Connection;
  readonly owner: Owner;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};
