/** Owners' preferences on MongoDB. */
import type { ListingSettings, ListingStore } from '../contract/listing.ts';
import type { MongoContext } from './context.ts';
import { listingOf } from './owner-preferences.ts';
import { idOf } from './table.ts';
import { bumpPreferences } from './versions.ts';

export function mongoListing(context: MongoContext): ListingStore {
  const { listing, now } = context;
  return {
    get(host) {
      return read(host);
    },

    async set(host, { listed, enrichmentSuppressed }) {
      if (listed !== undefined) await write('listed', host, listed);
      if (enrichmentSuppressed !== undefined) {
        await write('enrichmentSuppressed', host, enrichmentSuppressed);
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
  async function write(
    setting: keyof ListingSettings,
    host: string,
    value: boolean,
  ): Promise<void> {
    await listing.replace({ _id: idOf(setting, host), setting, host, value, atMs: now() });
  }
}
