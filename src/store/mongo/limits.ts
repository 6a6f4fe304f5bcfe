import type { Db } from 'mongodb';
import type { LimitStore } from '../limits.ts';
import { joinId } from '../table.ts';
import { type Guard, upsert } from './client.ts';
import { OWN_TABLES } from './prepare.ts';

type Counter = { readonly _id: string; readonly count: number; readonly resetAtMs: number };

/**
 * Request rates, counted together by all instances. A server without an atomic `$inc` loses some of the counts of
 * requests that race, and lets a few more through.
 */
export function mongoLimits(database: Db, guard: Guard, now: () => number): LimitStore {
  // Each request would wait for a majority otherwise.
  const writeConcern = { w: 1, journal: false };
  const limits = database.collection<Counter>(OWN_TABLES.limits.name, { writeConcern });
  return {
    async hit(key, windowMs) {
      const startMs = Math.floor(now() / windowMs) * windowMs;
      const resetAtMs = startMs + windowMs;
      const _id = joinId(key, startMs, windowMs);
      const update = { $inc: { count: 1 }, $set: { resetAtMs } };
      const options = { upsert: true, returnDocument: 'after' } as const;
      const hit = () => limits.findOneAndUpdate({ _id }, update, options);
      const counter = await guard(() => upsert(hit));
      return { count: counter?.count ?? 1, resetAtMs };
    },
  };
}
