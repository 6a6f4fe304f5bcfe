import {
  ENDED_WATCH_MS,
  type WatchDuty,
  type WatchStore,
  type WatchVersion,
} from '../contract/watches.ts';
import type { StoreContext } from './context.ts';
import { RETENTION_MS } from './retention.ts';
import { objectFromStoredJson, toStoredJson } from './stored-json.ts';
import type { Row } from './tables.ts';

export function watchesOn({ tables, now }: StoreContext): WatchStore {
  const { watches, watchTexts } = tables;

  function newestRow(host: string): Promise<Row<'watches'> | null> {
    return watches.first({ host }, { order: [['n', 'desc']] });
  }

  /** Marks a replaced version, so that it is no longer due and the purge removes it. */
  async function retire(host: string, n: number): Promise<void> {
    await watches.set({ host, n }, { isCurrent: false, lookAtMs: null, sendAtMs: null });
  }

  return {
    async newest(host) {
      const row = await newestRow(host);
      return row && toVersion(row);
    },

    async append({ host, n, state: value, ...times }, { attempt, texts, dropped }) {
      const state = toStoredJson(value, `the watch of ${host}`);
      for (const { id, text } of texts) await watchTexts.insert({ id, host, n, attempt, text });
      const row = { ...times, host, n, attempt, atMs: now(), isCurrent: true, state };
      const outcome = await watches.decide(row);
      if (outcome === 'lost') {
        await watchTexts.remove({ host, n, attempt });
        return outcome;
      }
      if (n > 1) await retire(host, n - 1);
      if (dropped.length > 0) await watchTexts.remove({ id: { in: dropped } });
      // Removes texts of writers that crashed before they won this number.
      await watchTexts.remove({ host, n, attempt: { not: attempt } });
      return outcome;
    },

    async text(id) {
      return (await watchTexts.get(id))?.text ?? null;
    },

    async due(duty: WatchDuty, upToMs, limit) {
      const rows = await watches.all(
        { [duty]: { upTo: upToMs } },
        { order: [[duty, 'asc']], limit },
      );
      const current: WatchVersion[] = [];
      for (const row of rows) {
        // The writer of a later version may have crashed before it retired this one.
        const later = await watches.first({ host: row.host, n: { after: row.n } });
        if (later === null) current.push(toVersion(row));
        else await retire(row.host, row.n);
      }
      return current;
    },

    async count() {
      let count = 0;
      const watched = { lookAtMs: { after: 0 } };
      for await (const rows of watches.batches(watched)) count += rows.length;
      return count;
    },
  };
}

function toVersion({ attempt, atMs, isCurrent, state, ...version }: Row<'watches'>): WatchVersion {
  return { ...version, state: objectFromStoredJson(state) };
}

/**
 * Replaced versions stay for longer than any write takes: otherwise a writer that saw an older version
 * could take a freed number.
 */
export async function purgeWatches({ tables }: StoreContext, nowMs: number): Promise<number> {
  const { watches, watchTexts } = tables;
  const replaced = { isCurrent: false, atMs: { upTo: nowMs - RETENTION_MS.replacedWatch } };
  let removed = await watches.removeInBatches(replaced);
  const ended = { isCurrent: true, endedAtMs: { upTo: nowMs - ENDED_WATCH_MS } };
  for await (const rows of watches.batches(ended)) {
    for (const { host, n } of rows) {
      const later = await watches.first({ host, n: { after: n } });
      await watchTexts.remove({ host, n: { upTo: n } });
      removed += await watches.remove({ host, n: later === null ? { upTo: n } : n });
    }
  }
  return removed;
}
