/** Owners' preferences on SQLite. */
import type { ListingSettings, ListingStore } from '../contract/listing.ts';
import type { SqliteContext } from './context.ts';
import { bumpPreferences } from './versions.ts';

export function sqliteListing(context: SqliteContext): ListingStore {
  return {
    async get(host) {
      return readListing(context, host);
    },

    async keyed(host) {
      const rows = context.connection.all(
        'SELECT setting, keyed_by FROM listing WHERE host = ? AND keyed_by IS NOT NULL',
        host,
      );
      return Object.fromEntries(rows.map((row) => [row.text('setting'), row.text('keyed_by')]));
    },

    async set(host, { listed, enrichmentSuppressed }, keyedBy = null) {
      const write = (setting: keyof ListingSettings, value: boolean) =>
        writeSetting(context, { host, setting, value, keyedBy });
      return context.connection.transaction(() => {
        if (listed !== undefined) write('listed', listed);
        if (enrichmentSuppressed !== undefined) {
          write('enrichmentSuppressed', enrichmentSuppressed);
        }
        bumpPreferences(context);
        return readListing(context, host);
      });
    },
  };
}

type Setting = {
  readonly host: string;
  readonly setting: keyof ListingSettings;
  readonly value: boolean;
  readonly keyedBy: string | null;
};

function writeSetting(
  { connection, now }: SqliteContext,
  { host, setting, value, keyedBy }: Setting,
): void {
  connection.run(
    `INSERT INTO listing (setting, host, value, at_ms, keyed_by) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, at_ms = excluded.at_ms,
       keyed_by = excluded.keyed_by`,
    setting,
    host,
    value ? 1 : 0,
    now(),
    keyedBy,
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
