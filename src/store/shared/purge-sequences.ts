import type { StoreContext } from './context.ts';
import { readHistories } from './ledger.ts';
import { RETENTION_MS } from './retention.ts';

const BATCH = 200;

/**
 * Purges the rows of finished sequences. A sequence without rows starts again at 1, so writers check that
 * the predecessor of the row they won still exists. A chain of identifiers is removed from its start,
 * with its greatest number last.
 */
export async function purgeSequences(context: StoreContext, nowMs: number): Promise<number> {
  const { slots, leases } = context.tables;
  const old = { takenAtMs: { upTo: nowMs - RETENTION_MS.endedLease } };
  const removed = [
    await slots.removeInBatches({ expiresAtMs: { upTo: nowMs } }, BATCH),
    await leases.removeInBatches({ ...old, releasedAtMs: { not: null } }, BATCH),
    await leases.removeInBatches({ ...old, expiresAtMs: { upTo: nowMs } }, BATCH),
    await purgeIdentifiers(context, nowMs),
  ];
  return removed.reduce((sum, count) => sum + count, 0);
}

async function purgeIdentifiers(context: StoreContext, nowMs: number): Promise<number> {
  const { identifiers } = context.tables;
  const sinceMs = nowMs - RETENTION_MS.identifierChain;
  const seen = new Set<string>();
  let removed = 0;
  for await (const batch of identifiers.batches({ atMs: { upTo: sinceMs } }, {}, BATCH)) {
    for (const { scope } of batch) {
      if (seen.has(scope)) continue;
      seen.add(scope);
      const chain = await identifiers.all({ scope }, { order: [['n', 'asc']] });
      const last = chain.at(-1);
      if (!last || last.atMs > sinceMs) continue;
      const keys = chain.map((link) => link.key);
      if ((await readHistories(context, keys)).length > 0) continue;
      removed += await identifiers.remove({ scope, n: { before: last.n } });
      removed += await identifiers.remove({ scope, n: last.n });
    }
  }
  return removed;
}
