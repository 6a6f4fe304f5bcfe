/** Owners' preferences on MongoDB. */
import type { ListingSettings, ListingStore } from '../contract/listing.ts';
import type { MongoContext } from './context.ts';
import type { ListingDocument } from './documents.ts';
import { listingOf } from './owner-preferences.ts';
import { idOf } from './table.ts';
import { bumpPreferences } from './versions.ts';

export function mongoListing(context: MongoContext): ListingStore {
  const { listing, now } = context;
  return {
    get(host) {
      return read(host);
    },

    async keyed(host) {
      const rows = await listing.all({ host });
      return Object.fromEntries(
        rows.flatMap(({ setting, keyedBy }) => (keyedBy === null ? [] : [[setting, keyedBy]])),
      );
    },

    async set(host, { listed, enrichmentSuppressed }, keyedBy = null) {
      if (listed !== undefined) await write({ setting: 'listed', host, value: listed, keyedBy });
      if (enrichmentSuppressed !== undefined) {
        const value = enrichmentSuppressed;
        await write({ setting: 'enrichmentSuppressed', host, value, keyedBy });
      }
      await bumpPreferences(context);
      return read(host);
    },
  };

  async function read(host: string): Promise<ListingSettings> {
    const settings = (await listingOf(context, [host])).get(host);
    return settings ?? { listed: true, enrichmentSuppressed: false };
  }

  /** A row for each setting, so that two owners who set different ones lose neither. */
  async function write(row: Omit<ListingDocument, '_id' | 'atMs'>): Promise<void> {
    await listing.replace({ _id: idOf(row.setting, row.host), ...row, atMs: now() });
  }
}
