import type { JsonObject } from '../../scanner/model/json.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { objectFromStoredJson, toStoredJson } from './stored-values.ts';
import type { InsertOutcome } from './table.ts';
import type { Row } from './tables.ts';

/** A watch is kept for this long after its end. */
export const ENDED_WATCH_KEPT_MS = 30 * 24 * 3_600_000;

/** One version of a host's watch. It has the whole state, and is valid until the next version is inserted. */
export type WatchVersion = Omit<Row<'watches'>, 'attempt' | 'atMs' | 'isCurrent' | 'state'> & {
  readonly state: JsonObject;
};

/** A text to which a version refers: the body of an event, or the facts with which the next look is compared. */
export type WatchText = { readonly id: string; readonly text: string };

type WatchTextChange = {
  /** Random. */
  readonly attempt: string;
  /** Texts that the version adds. */
  readonly texts: readonly WatchText[];
  /** Ids of texts to which the version no longer refers. */
  readonly dropped: readonly string[];
};

/** A time at which a watch has something to do. */
type WatchTime = 'lookAtMs' | 'sendAtMs';

export type DueOptions = {
  readonly upToMs: number;
  readonly limit: number;
  /** Hosts or receivers to leave out. */
  readonly except: readonly string[];
};

/** Selects watches that have not ended. */
export type LiveWatches = Partial<
  Pick<WatchVersion, 'domain' | 'receiver' | 'client' | 'holdsPlace'>
>;

/**
 * Each watch is a sequence of versions. A writer reads the newest version, inserts its new texts, and then inserts the
 * next version. If several writers race, one of them wins. A version is never stored without its texts.
 */
export function createWatchStore({ tables, now }: StoreContext) {
  const { watches, watchTexts } = tables;

  /** Marks a version as replaced. It is then no longer due, and the purge removes it. */
  async function markReplaced(host: string, n: number): Promise<void> {
    await watches.set({ host, n }, { isCurrent: false, lookAtMs: null, sendAtMs: null });
  }

  /** Leaves out replaced versions, and marks them now, because the writer of the later version crashed before it did. */
  async function selectCurrent(
    rows: readonly Row<'watches'>[],
  ): Promise<readonly Row<'watches'>[]> {
    const current: Row<'watches'>[] = [];
    for (const row of rows) {
      const later = await watches.first({ host: row.host, n: { after: row.n } });
      if (later === null) current.push(row);
      else await markReplaced(row.host, row.n);
    }
    return current;
  }

  return {
    async findNewest(host: string): Promise<WatchVersion | null> {
      const row = await watches.first({ host }, { order: [['n', 'desc']] });
      return row && toVersion(row);
    },

    /** Inserts a version. If it returns `lost`, the caller reads the newest version again, and decides again. */
    async append(
      { host, n, state: value, ...columns }: WatchVersion,
      { attempt, texts, dropped }: WatchTextChange,
    ): Promise<InsertOutcome> {
      const state = toStoredJson(value, `the watch of ${host}`);
      for (const { id, text } of texts) await watchTexts.insert({ id, host, n, attempt, text });
      const row = { ...columns, host, n, attempt, atMs: now(), isCurrent: true, state };
      const outcome = await watches.insertContended(row);
      if (outcome === 'lost') {
        await watchTexts.remove({ host, n, attempt });
        return outcome;
      }
      if (n > 1) await markReplaced(host, n - 1);
      if (dropped.length > 0) await watchTexts.remove({ id: { in: dropped } });
      // A writer that crashed before it could insert this version may have left its texts.
      await watchTexts.remove({ host, n, attempt: { not: attempt } });
      return outcome;
    },

    async findText(id: string): Promise<string | null> {
      return (await watchTexts.get(id))?.text ?? null;
    },

    /** Finds hosts whose look is due. Confirming looks come first; of each kind, the earliest look comes first. */
    async findDueLooks({ upToMs, limit, except }: DueOptions): Promise<readonly string[]> {
      const whereDue = { lookAtMs: { upTo: upToMs }, host: { notIn: except } };
      const order = [['lookAtMs', 'asc']] as const;
      const confirming = await watches.all({ ...whereDue, isConfirming: true }, { order, limit });
      const remaining = { order, limit: limit - confirming.length };
      const others =
        remaining.limit > 0
          ? await watches.all({ ...whereDue, isConfirming: false }, remaining)
          : [];
      return (await selectCurrent([...confirming, ...others])).map(({ host }) => host);
    },

    /** Finds receivers with a due delivery, each once, the earliest delivery first. */
    async findDueReceivers({ upToMs, limit, except }: DueOptions): Promise<readonly string[]> {
      const whereDue = { sendAtMs: { upTo: upToMs }, receiver: { notIn: except } };
      const receivers = new Set<string>();
      for await (const rows of watches.batches(whereDue, { order: [['sendAtMs', 'asc']] })) {
        for (const { receiver } of rows) if (receivers.size < limit) receivers.add(receiver);
        if (receivers.size === limit) break;
      }
      return [...receivers];
    },

    /** Finds watches of a receiver with a due delivery, the earliest delivery first. */
    async findDueDeliveries(
      receiver: string,
      { upToMs, limit }: Omit<DueOptions, 'except'>,
    ): Promise<readonly WatchVersion[]> {
      const whereDue = { receiver, sendAtMs: { upTo: upToMs } };
      const rows = await watches.all(whereDue, { order: [['sendAtMs', 'asc']], limit });
      return (await selectCurrent(rows)).map(toVersion);
    },

    /** Finds the earliest planned time in this column over all watches; null if none is planned. */
    async findFirstDueMs(column: WatchTime): Promise<number | null> {
      // Null, which stands for no plan, is not after 0.
      const row = await watches.first({ [column]: { after: 0 } }, { order: [[column, 'asc']] });
      return row?.[column] ?? null;
    },

    /** Finds at most `limit` watches, in no order. */
    async findLive(selection: LiveWatches, limit: number): Promise<readonly WatchVersion[]> {
      const whereLive = { ...selection, isCurrent: true, endedAtMs: null };
      return (await selectCurrent(await watches.all(whereLive, { limit }))).map(toVersion);
    },
  };
}

function toVersion({ attempt, atMs, isCurrent, state, ...version }: Row<'watches'>): WatchVersion {
  return { ...version, state: objectFromStoredJson(state) };
}

/**
 * Removes replaced versions, and watches that ended long ago. Replaced versions stay for longer than any write takes.
 * Otherwise a slow writer that read an older version could take the number of a removed one.
 */
export async function purgeWatches({ tables }: StoreContext, nowMs: number): Promise<number> {
  const { watches, watchTexts } = tables;
  const whereReplaced = { isCurrent: false, atMs: { upTo: nowMs - RETENTION_MS.replacedWatch } };
  let removedCount = await watches.removeInBatches(whereReplaced);
  const whereEnded = { isCurrent: true, endedAtMs: { upTo: nowMs - ENDED_WATCH_KEPT_MS } };
  for await (const rows of watches.batches(whereEnded)) {
    for (const { host, n } of rows) {
      const later = await watches.first({ host, n: { after: n } });
      await watchTexts.remove({ host, n: { upTo: n } });
      removedCount += await watches.remove({ host, n: later === null ? { upTo: n } : n });
    }
  }
  return removedCount;
}
