import { announceListing } from './changes.ts';
import type { StoreContext } from './context.ts';
import {
  appendOwnerState,
  findOptedOutHosts,
  findOwnerState,
  type NumberedState,
  type OwnerState,
} from './owners.ts';
import { removeHostDays } from './statistics.ts';

/** The settings of a host's verified owner. */
export type ListingSettings = Pick<OwnerState, 'listed' | 'enrichmentSuppressed'>;

/** The settings to change. A setting that is left out keeps its value. */
export type ListingChange = { readonly [Setting in keyof ListingSettings]?: boolean | undefined };

export type StoredListing = {
  /** Defaults: listed, not suppressed. */
  readonly settings: ListingSettings;
  /** For each setting that was set with a listing key: the hash of the token that was issued with the key. */
  readonly tokenHashes: Readonly<Partial<Record<keyof ListingSettings, string>>>;
  /** Changes when a setting or a proof of the host is written; 0 before the first write. */
  readonly version: number;
};

/** The settings of verified owners. They have rows of their own, which no publication changes. */
export function createListingStore(context: StoreContext) {
  return {
    findOptedOutHosts: (): Promise<readonly string[]> => findOptedOutHosts(context),

    async get(host: string): Promise<StoredListing> {
      const { n: version, state } = await findOwnerState(context, host);
      const { listedBy, suppressedBy } = state;
      const tokenHashes = {
        ...(listedBy && { listed: listedBy }),
        ...(suppressedBy && { enrichmentSuppressed: suppressedBy }),
      };
      return { settings: toSettings(state), tokenHashes, version };
    },

    /** @param tokenHash hash of the token that was issued with the caller's listing key; null without a listing key */
    async set(
      host: string,
      change: ListingChange,
      tokenHash: string | null = null,
    ): Promise<ListingSettings> {
      const settings = await write(host, change, tokenHash, () => true);
      // A change without a condition is always written; the types do not say so.
      return settings ?? toSettings((await findOwnerState(context, host)).state);
    },

    /** Does the same as `set` without a listing key. If the version has changed, it sets nothing and returns null. */
    setIf(host: string, version: number, change: ListingChange): Promise<ListingSettings | null> {
      return write(host, change, null, ({ n }) => n === version);
    },
  };

  /** Returns null, and changes nothing, if `mayWrite` is false for the current settings. */
  async function write(
    host: string,
    change: ListingChange,
    tokenHash: string | null,
    mayWrite: (current: NumberedState) => boolean,
  ): Promise<ListingSettings | null> {
    let wasListed = true;
    const written = await appendOwnerState(context, host, (current) => {
      if (!mayWrite(current)) return null;
      wasListed = current.state.listed;
      return toStateChange(change, tokenHash);
    });
    if (written === null) return null;
    if (!written.state.listed) await removeHostDays(context, host);
    if (written.state.listed && !wasListed) await announceListing(context, host, written.n);
    return toSettings(written.state);
  }
}

function toStateChange(
  { listed, enrichmentSuppressed }: ListingChange,
  tokenHash: string | null,
): Partial<OwnerState> {
  return {
    ...(listed === undefined ? {} : { listed, listedBy: tokenHash }),
    ...(enrichmentSuppressed === undefined
      ? {}
      : { enrichmentSuppressed, suppressedBy: tokenHash }),
  };
}

function toSettings({ listed, enrichmentSuppressed }: OwnerState): ListingSettings {
  return { listed, enrichmentSuppressed };
}
