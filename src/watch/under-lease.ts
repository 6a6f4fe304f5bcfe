import { randomUUID } from 'node:crypto';
import type { Store } from '../store/store.ts';

/** A limit leaves no room for the work now; the caller tries it again soon. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

/** Runs `work` under a lease. Throws NoPlace when another instance holds it. */
export async function underLease<Result>(
  { leases }: Pick<Store, 'leases'>,
  name: string,
  lifetimeMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const turn = await leases.take({ name, attempt: randomUUID(), lifetimeMs });
  if (!turn.held) throw new NoPlace();
  try {
    return await work();
  } finally {
    await leases.release(turn.lease);
  }
}
