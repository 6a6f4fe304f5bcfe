/** Request rates, counted together on MongoDB. */
import type { LimitStore } from '../contract/limits.ts';
import { idOf } from '../shared/table.ts';
import type { MongoContext } from './context.ts';
import { isDuplicate } from './error.ts';

export function mongoLimits({ limits, now }: MongoContext): LimitStore {
  return {
    hit(key, windowMs) {
      const startMs = Math.floor(now() / windowMs) * windowMs;
      const resetAtMs = startMs + windowMs;
      const _id = idOf(key, startMs, windowMs);
      return limits.use(async (collection) => {
        const count = () =>
          collection.findOneAndUpdate(
            { _id },
            { $inc: { count: 1 }, $set: { resetAtMs } },
            { upsert: true, returnDocument: 'after' },
          );
        // Two first requests of a window can both find nothing to count up.
        const counted = await count().catch((error: unknown) => {
          if (isDuplicate(error)) return count();
          throw error;
        });
        return { count: counted?.count ?? 1, resetAtMs };
      });
    },
  };
}
