import { ENDED_WATCH_MS } from '../contract/watches.ts';
import type { StoreContext } from './context.ts';
import { RETENTION_MS } from './retention.ts';

const BATCH = 200;

/**
 * Replaced versions stay for longer than any write takes: otherwise a writer that saw an older version
 * could take a freed number.
 */
export async function purgeWatches({ tables }: StoreContext, nowMs: number): Promise<number> {
  const { watches, watchTexts } = tables;
  const replaced = { isCurrent: false, atMs: { upTo: nowMs - RETENTION_MS.replacedWatch } };
  let removed = await watches.removeInBatches(replaced, BATCH);
  const ended = { isCurrent: true, endedAtMs: { upTo: nowMs - ENDED_WATCH_MS } };
  for await (const rows of watches.batches(ended, {}, BATCH)) {
    for (const { host, n } of rows) {
      const later = await watches.first({ host, n: { after: n } });
      await watchTexts.remove({ host, n: { upTo: n } });
      removed += await watches.remove({ host, n: later === null ? { upTo: n } : n });
    }
  }
  return removed;
}
