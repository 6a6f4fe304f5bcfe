/** Proof of domain control on SQLite. */
import type { OwnershipStore } from '../contract/ownership.ts';
import type { SlotStore } from '../contract/slots.ts';
import { ownershipOn } from '../shared/ownership.ts';
import type { SqliteContext } from './context.ts';
import { bumpPreferences } from './versions.ts';

export function sqliteOwnership(context: SqliteContext, slots: SlotStore): OwnershipStore {
  const { connection } = context;
  return ownershipOn(slots, {
    async get(host) {
      const row = connection.get(
        'SELECT at_ms, token_hash, key_hash, client FROM confirms WHERE host = ?',
        host,
      );
      return (
        row && {
          atMs: row.integer('at_ms'),
          tokenHash: row.text('token_hash'),
          keyHash: row.text('key_hash'),
          client: row.text('client'),
        }
      );
    },

    async put(host, { atMs, tokenHash, keyHash, client }) {
      connection.transaction(() => {
        connection.run(
          `INSERT INTO confirms (host, at_ms, token_hash, key_hash, client) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms, token_hash = excluded.token_hash,
             key_hash = excluded.key_hash, client = excluded.client
           WHERE excluded.at_ms >= confirms.at_ms`,
          host,
          atMs,
          tokenHash,
          keyHash,
          client,
        );
        bumpPreferences(context);
      });
    },
  });
}
