/** Owners' preferences on SQLite. */
import type { ListingSettings, ListingStore } from '../contract/listing.ts';
import type { SqliteContext } from './context.ts';
import { bumpPreferences } from './versions.ts';

export function sqliteListing(context: SqliteContext): ListingStore {
  return {
    async get(host) {
      return readListing(context, host);
    },

    async set(host, { listed, enrichmentSuppressed }) {
      return context.connection.transaction(() => {
        if (listed !== undefined) writeSetting(context, 'listed', host, listed);
        if (enrichmentSuppressed !== undefined) {
          writeSetting(context, 'enrichmentSuppressed', host, enrichmentSuppressed);
        }
        bumpPreferences(context);
        return readListing(context, host);
      });
    },
  };
}

function writeSetting(
  { connection, now }: SqliteContext,
  setting: keyof ListingSettings,
  host: string,
  value: boolean,
): void {
  connection.run(
    `INSERT INTO listing (setting, host, value, at_ms) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, at_ms = excluded.at_ms`,
    setting,
    host,
    value ? 1 : 0,
    now(),
  );
}

function readListing({ connection }: SqliteContext, host: string): ListingSettings {
  const rows = connection.all('SELECT setting, value FROM listing WHERE host = ?', host);
  const values = new Map(rows.map((row) => [row.text('setting'), row.integer('value') === 1]));
  return {
    listed: values.get('listed') ?? true,
    enrichmentSuppressed: values.get('enrichmentSuppressed') ?? false,
  };
}
