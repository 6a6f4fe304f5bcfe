/** Shares on MongoDB. */
import type { ShareStore } from '../contract/shares.ts';
import type { MongoContext } from './context.ts';
import type { ShareDocument } from './documents.ts';
import { ownerLives } from './live-instances.ts';
import { idOf } from './table.ts';

export function mongoShares(context: MongoContext): ShareStore {
  const { shares, owner, now } = context;
  return {
    async take({ holder, limit, attempt, lifetimeMs, outlivesOwner = false }) {
      for (;;) {
        // The greatest number first: whatever is inserted after it collides with the insert below.
        const last = await shares.first({ holder }, { sort: { n: -1 } });
        const open = await openShares(context, holder);
        const own = open.find((share) => share.attempt === attempt);
        if (own) return { holder, n: own.n, attempt };
        if (open.length >= limit) return null;
        const n = (last?.n ?? 0) + 1;
        const outcome = await shares.decide({
          _id: idOf(holder, n),
          holder,
          n,
          attempt,
          owner,
          outlivesOwner,
          expiresAtMs: now() + lifetimeMs,
          isReleased: false,
        });
        if (outcome === 'won') return { holder, n, attempt };
      }
    },

    async release({ holder, n, attempt }) {
      // The row stays for a while, so that no slow racer takes its number again.
      await shares.set(idOf(holder, n), { isReleased: true }, { attempt });
    },
  };
}

async function openShares(
  context: MongoContext,
  holder: string,
): Promise<readonly ShareDocument[]> {
  const rows = await context.shares.all({
    holder,
    isReleased: false,
    expiresAtMs: { $gt: context.now() },
  });
  const lives = new Map<string, boolean>();
  for (const { owner } of rows) {
    if (!lives.has(owner.boot)) lives.set(owner.boot, await ownerLives(context, owner));
  }
  return rows.filter((row) => row.outlivesOwner || lives.get(row.owner.boot) === true);
}
