/** A file of its own: the service runs it at rest, when nothing that asks an index is loaded. */
import type { Store } from '../store/store.ts';
import type { RefreshingStanding } from './create-standing.ts';

export type ListingRefresh = {
  readonly store: Pick<Store, 'slots'>;
  readonly standing: Pick<RefreshingStanding, 'refreshListing'>;
  /** Told of errors that no caller sees and an operator may want to know. */
  onError(message: string, error: unknown): void;
};

const LEASE_SCOPE = ['refresh', 'listing'];
/** Exceeds any lookup's time, and frees the lease soon after an instance crashed. */
const LEASE_LIFETIME_MS = 60_000;

/**
 * Refreshes the cached listing in the background, so that scans need not wait for it. One instance runs
 * at a time; the next one finds a fresh entry. Never rejects, even when the store fails.
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
    onError('The listing was not refreshed, scans go by the last one', lookup.detail);
  } catch (error) {
    onError('The listing was not refreshed', error);
  }
  return 'failed';
}
