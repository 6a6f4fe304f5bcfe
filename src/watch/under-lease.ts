import { randomUUID } from 'node:crypto';
import type { Store } from '../store/contract/store.ts';

/** A limit leaves no room for the work now; the caller tries it again soon. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

/** Runs `work` under a lease; does nothing when another instance holds it. */
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
