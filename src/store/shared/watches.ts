import { ENDED_WATCH_MS, type WatchStore, type WatchVersion } from '../contract/watches.ts';
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

  /** Leaves out replaced versions: the writer of a later one may have crashed before it retired them. */
  async function currentAmong(rows: readonly Row<'watches'>[]): Promise<readonly Row<'watches'>[]> {
    const current: Row<'watches'>[] = [];
    for (const row of rows) {
      const later = await watches.first({ host: row.host, n: { after: row.n } });
      if (later === null) current.push(row);
      else await retire(row.host, row.n);
    }
    return current;
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

    async dueLooks({ upToMs, limit, except }) {
      const due = { lookAtMs: { upTo: upToMs }, host: { notIn: except } };
      const order = [['lookAtMs', 'asc']] as const;
      const urgent = await watches.all({ ...due, isConfirming: true }, { order, limit });
      const left = { order, limit: limit - urgent.length };
      const others =
        left.limit > 0 ? await watches.all({ ...due, isConfirming: { not: true } }, left) : [];
      return (await currentAmong([...urgent, ...others])).map(({ host }) => host);
    },

    async dueReceivers({ upToMs, limit, except }) {
      const due = { sendAtMs: { upTo: upToMs }, receiver: { notIn: except } };
      const receivers = new Set<string>();
      for await (const rows of watches.batches(due, { order: [['sendAtMs', 'asc']] })) {
        for (const { receiver } of rows) if (receivers.size < limit) receivers.add(receiver);
        if (receivers.size === limit) break;
      }
      return [...receivers];
    },

    async dueSends(receiver, { upToMs, limit }) {
      const due = { receiver, sendAtMs: { upTo: upToMs } };
      const rows = await watches.all(due, { order: [['sendAtMs', 'asc']], limit });
      return (await currentAmong(rows)).map(toVersion);
    },

    async firstDutyMs(duty) {
      const row = await watches.first({ [duty]: { after: 0 } }, { order: [[duty, 'asc']] });
      return row?.[duty] ?? null;
    },

    async live(which, limit) {
      const live = { ...which, isCurrent: true, endedAtMs: null };
      return (await currentAmong(await watches.all(live, { limit }))).map(toVersion);
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
