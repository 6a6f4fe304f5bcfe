/** Proof of domain control: tokens, failures, confirms on SQLite. */
import type { OwnershipStore } from '../contract/ownership.ts';
import type { SlotStore } from '../contract/slots.ts';
import { countedOwnership } from '../rules/ownership.ts';
import type { SqliteContext } from './context.ts';
import { bumpPreferences } from './versions.ts';

export function sqliteOwnership(context: SqliteContext, slots: SlotStore): OwnershipStore {
  const { connection, now } = context;
  return {
    ...countedOwnership(slots),

    async recordConfirm({ host, tokenHash }) {
      connection.transaction(() => {
        connection.run(
          `INSERT INTO confirms (host, at_ms, token_hash) VALUES (?, ?, ?)
           ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms, token_hash = excluded.token_hash`,
          host,
          now(),
          tokenHash,
        );
        bumpPreferences(context);
      });
    },

    async lastConfirm(host) {
      const row = connection.get('SELECT at_ms, token_hash FROM confirms WHERE host = ?', host);
      return row && { atMs: row.integer('at_ms'), tokenHash: row.text('token_hash') };
    },
  };
}
