import { MEMBERSHIP_SETTINGS } from '../contract/instances.ts';
import type { Owner } from '../contract/owner.ts';
import { boolean, integer, objectOf, table, text } from '../shared/columns.ts';
import type { RowOf, TablesOf } from '../shared/table.ts';

/** The tables of a shared store that an embedded one does not need. */
export const OWN_TABLES = {
  /** Counters of request rates. */
  limits: table({
    name: 'limits',
    columns: { key: text, count: integer, resetAtMs: integer },
    key: ['key'],
    indexes: [['resetAtMs']],
  }),
  /** Heartbeats of the processes that live on the database. */
  instances: table({
    name: 'instances',
    columns: {
      boot: text,
      host: text,
      beatAtMs: integer,
      /** False until the checks that allow it to join have passed. */
      joined: boolean,
      settings: objectOf(...MEMBERSHIP_SETTINGS),
    },
    key: ['boot'],
    indexes: [['beatAtMs']],
  }),
};

export type Instance = RowOf<typeof OWN_TABLES.instances>;

export type MongoContext = TablesOf<typeof OWN_TABLES> & {
  readonly owner: Owner;
  /** Factor on the heartbeat interval and on the silence after which instances count as gone; 1 outside tests. */
  readonly timeScale: number;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};
