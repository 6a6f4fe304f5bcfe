import type { SlotScope } from '../store/slots.ts';
import type { Store } from '../store/store.ts';

/** A limit leaves no room for the work now; the caller tries it again soon. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

/** Runs `work` under a lease. Throws NoPlace when another instance holds it. */
export async function underLease<Result>(
  { slots }: Pick<Store, 'slots'>,
  scope: SlotScope,
  lifetimeMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const lease = await slots.lease(scope, lifetimeMs);
  if (!lease.taken) throw new NoPlace();
  try {
    return await work();
  } finally {
    await slots.release(lease.slot);
  }
}
