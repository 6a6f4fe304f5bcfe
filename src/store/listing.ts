import { announceListing } from './changes.ts';
import type { StoreContext } from './context.ts';
import { appendOwnerState, findOwnerState, type NumberedState, type OwnerState } from './owners.ts';
import { removeHostDays } from './statistics.ts';

/** Preferences of a verified owner for a host. */
export type ListingSettings = {
  readonly listed: boolean;
  readonly enrichmentSuppressed: boolean;
};

/** Settings to change; one that is left out stays as it is. */
export type ListingChange = {
  readonly listed?: boolean | undefined;
  readonly enrichmentSuppressed?: boolean | undefined;
};

export type StoredListing = {
  /** Defaults: listed, not suppressed. */
  readonly settings: ListingSettings;
  /** Maps each setting that was set with a listing key to the hash of that key's token. */
  readonly tokenHashes: Readonly<Partial<Record<keyof ListingSettings, string>>>;
  /** Changes whenever a setting or a proof of the host is written; 0 before the first. */
  readonly version: number;
};

/** Preferences of verified owners, in rows of their own that no publication touches. */
export function listingOn(context: StoreContext) {
  return {
    async get(host: string): Promise<StoredListing> {
      const { n: version, state } = await findOwnerState(context, host);
      const { listedBy, suppressedBy } = state;
      const tokenHashes = {
        ...(listedBy && { listed: listedBy }),
        ...(suppressedBy && { enrichmentSuppressed: suppressedBy }),
      };
      return { settings: settingsOf(state), tokenHashes, version };
    },

    /**
     * Sets the given members, and returns all settings as they are afterwards.
     * @param keyedBy hash of the token whose listing key the caller showed, if they showed one
     */
    async set(
      host: string,
      change: ListingChange,
      keyedBy: string | null = null,
    ): Promise<ListingSettings> {
      const settings = await write(host, change, keyedBy, () => true);
      return settings ?? settingsOf((await findOwnerState(context, host)).state);
    },

    /** Does the same as `set` without a key. Returns null and sets nothing when the version has changed. */
    setIf(host: string, version: number, change: ListingChange): Promise<ListingSettings | null> {
      return write(host, change, null, ({ n }) => n === version);
    },
  };

  async function write(
    host: string,
    change: ListingChange,
    keyedBy: string | null,
    mayWrite: (current: NumberedState) => boolean,
  ): Promise<ListingSettings | null> {
    let wasListed = true;
    const written = await appendOwnerState(context, host, (current) => {
      if (!mayWrite(current)) return null;
      wasListed = current.state.listed;
      return wantedState(change, keyedBy);
    });
    if (written === null) return null;
    if (!written.state.listed) await removeHostDays(context, host);
    if (written.state.listed && !wasListed) await announceListing(context, host, written.n);
    return settingsOf(written.state);
  }
}

function wantedState(
  { listed, enrichmentSuppressed }: ListingChange,
  keyedBy: string | null,
): Partial<OwnerState> {
  return {
    ...(listed === undefined ? {} : { listed, listedBy: keyedBy }),
    ...(enrichmentSuppressed === undefined ? {} : { enrichmentSuppressed, suppressedBy: keyedBy }),
  };
}

function settingsOf({ listed, enrichmentSuppressed }: OwnerState): ListingSettings {
  return { listed, enrichmentSuppressed };
}
