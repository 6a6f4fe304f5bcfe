/** The purge of numbered sequences. */
import { RETENTION_MS } from '../shared/retention.ts';
import type { MongoContext } from './context.ts';
import { readHistories } from './ledger.ts';

const BATCH = 200;

/**
 * Rows of sequences that are over. A sequence that lost all its rows starts again at 1: its writers
 * look for the predecessor of what they won, and a chain of identifiers goes from its start, its
 * greatest number last.
 */
export async function purgeSequences(context: MongoContext, nowMs: number): Promise<number> {
  const { slots, leases } = context;
  const old = { takenAtMs: { $lte: nowMs - RETENTION_MS.endedLease } };
  const removed = [
    await slots.removeInBatches({ expiresAtMs: { $lte: nowMs } }, BATCH),
    await leases.removeInBatches({ ...old, releasedAtMs: { $ne: null } }, BATCH),
    await leases.removeInBatches({ ...old, expiresAtMs: { $lte: nowMs } }, BATCH),
    await purgeIdentifiers(context, nowMs),
  ];
  return removed.reduce((sum, count) => sum + count, 0);
}

async function purgeIdentifiers(context: MongoContext, nowMs: number): Promise<number> {
  const { identifiers } = context;
  const sinceMs = nowMs - RETENTION_MS.identifierChain;
  const old = { atMs: { $lte: sinceMs } };
  const seen = new Set<string>();
  let removed = 0;
  for await (const batch of identifiers.batches(old, { projection: { scope: 1 } }, BATCH)) {
    for (const { scope } of batch) {
      if (seen.has(scope)) continue;
      seen.add(scope);
      const chain = await identifiers.all({ scope }, { sort: { n: 1 } });
      const last = chain.at(-1);
      if (!last || last.atMs > sinceMs) continue;
      const keys = chain.map((link) => link.key);
      if ((await readHistories(context, keys)).length > 0) continue;
      removed += await identifiers.remove({ scope, n: { $lt: last.n } });
      removed += await identifiers.remove({ scope, n: last.n });
    }
  }
  return removed;
}
