import { randomUUID } from 'node:crypto';
import type { Store } from '../store/contract/store.ts';

/** There is no room for it now; it is tried again soon. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

/** Works while no other host does the same; does nothing where one does. */
export async function underLease(
  { leases }: Pick<Store, 'leases'>,
  name: string,
  lifetimeMs: number,
  work: () => Promise<void>,
): Promise<void> {
  const turn = await leases.take({ name, attempt: randomUUID(), lifetimeMs });
  if (!turn.held) return;
  try {
    await work();
  } finally {
    await leases.release(turn.lease);
  }
}
