import type { ListingChange, ListingSettings, ListingStore } from '../contract/listing.ts';
import { announceListing } from './announce.ts';
import type { StoreContext } from './context.ts';
import { appendOwnerState, findOwner, type NumberedState, type OwnerState } from './owners.ts';
import { removeHostDays } from './statistics.ts';

export function listingOn(context: StoreContext): ListingStore {
  return {
    async get(host) {
      const { n: version, state } = await findOwner(context, host);
      const { listedBy, suppressedBy } = state;
      const keyed = {
        ...(listedBy && { listed: listedBy }),
        ...(suppressedBy && { enrichmentSuppressed: suppressedBy }),
      };
      return { settings: settingsOf(state), keyed, version };
    },

    async set(host, change, keyedBy = null) {
      const settings = await write(host, change, keyedBy, () => true);
      return settings ?? settingsOf((await findOwner(context, host)).state);
    },

    setIf: (host, version, change) => write(host, change, null, ({ n }) => n === version),
  };

  async function write(
    host: string,
    change: ListingChange,
    keyedBy: string | null,
    mayWrite: (held: NumberedState) => boolean,
  ): Promise<ListingSettings | null> {
    let wasListed = true;
    const written = await appendOwnerState(context, host, (held) => {
      if (!mayWrite(held)) return null;
      wasListed = held.state.listed;
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
