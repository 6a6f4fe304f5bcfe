/** The purge of numbered sequences. */
import { RETENTION_MS } from '../rules/retention.ts';
import type { MongoContext } from './context.ts';
import { readEntries } from './ledger.ts';

const BATCH = 200;

/**
 * Old rows of numbered sequences. The greatest number of slots and leases stays, so that it is never
 * given out twice; a chain of identifiers goes from its start, its greatest number last.
 */
export async function purgeSequences(context: MongoContext, nowMs: number): Promise<number> {
  const slots = await purgeSlots(context, nowMs);
  const leases = await purgeLeases(context, nowMs);
  return slots + leases + (await purgeIdentifiers(context, nowMs));
}

async function purgeSlots({ slots }: MongoContext, nowMs: number): Promise<number> {
  const old = { atMs: { $lte: nowMs - RETENTION_MS.slot } };
  const seen = new Set<string>();
  let removed = 0;
  for await (const batch of slots.batches(old, { projection: { scope: 1 } }, BATCH)) {
    for (const { scope } of batch) {
      if (seen.has(scope)) continue;
      seen.add(scope);
      const last = await slots.first({ scope }, { sort: { n: -1 } });
      if (last) removed += await slots.remove({ ...old, scope, n: { $lt: last.n } });
    }
  }
  return removed;
}

async function purgeLeases({ leases }: MongoContext, nowMs: number): Promise<number> {
  const old = { takenAtMs: { $lte: nowMs - RETENTION_MS.endedLease } };
  const seen = new Set<string>();
  let removed = 0;
  for await (const batch of leases.batches(old, { projection: { name: 1 } }, BATCH)) {
    for (const { name } of batch) {
      if (seen.has(name)) continue;
      seen.add(name);
      const last = await leases.first({ name }, { sort: { turn: -1 } });
      if (last) removed += await leases.remove({ ...old, name, turn: { $lt: last.turn } });
    }
  }
  return removed;
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
      if ((await readEntries(context, keys)).length > 0) continue;
      removed += await identifiers.remove({ scope, n: { $lt: last.n } });
      removed += await identifiers.remove({ scope, n: last.n });
    }
  }
  return removed;
}
