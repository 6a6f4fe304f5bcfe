/** An idle service runs this file, so it does not import the modules that send requests to indexes. */

import type { RefreshingStanding } from '../indexes/create-standing.ts';
import type { Store } from '../store/store.ts';

export type ListingRefresh = {
  readonly store: Pick<Store, 'slots'>;
  readonly standing: Pick<RefreshingStanding, 'refreshListing'>;
  /** Called with errors for the operator. */
  onError(message: string, error: unknown): void;
};

const LEASE_SCOPE = ['refresh', 'listing'];
/** Longer than any lookup. After a crash of the instance the lease ends soon. */
const LEASE_LIFETIME_MS = 60_000;

/**
 * Refreshes the cached list of partners in the background, so that scans need not wait for it. Only one instance asks at
 * a time, and the others get `held`. Never rejects, even if the store fails.
 */
export async function refreshListing({
  store,
  standing,
  onError,
}: ListingRefresh): Promise<'asked' | 'held' | 'failed'> {
  try {
    const lease = await store.slots.lease(LEASE_SCOPE, LEASE_LIFETIME_MS);
    if (!lease.taken) return 'held';
    const lookup = await standing.refreshListing();
    await store.slots.release(lease.slot);
    if (lookup.state !== 'failed') return 'asked';
    onError('The listing was not refreshed, scans use the last list', lookup.detail);
  } catch (error) {
    onError('The listing was not refreshed', error);
  }
  return 'failed';
}
