import type { JsonObject } from '../model/json.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { objectFromStoredJson, toStoredJson } from './stored-values.ts';
import type { InsertOutcome } from './table.ts';
import type { Row } from './tables.ts';

/** An ended watch is kept for this long. */
export const ENDED_WATCH_KEPT_MS = 30 * 24 * 3_600_000;

/** One version of a host's watch: the whole state, valid until a greater number is inserted. */
export type WatchVersion = {
  readonly host: string;
  /** 1, 2, 3 … for each host; the version with the greatest number is current. */
  readonly n: number;
  /** Time of the next look at the origin; null when none is planned. */
  readonly lookAtMs: number | null;
  /** Time of the next try of a delivery; null when none waits. */
  readonly sendAtMs: number | null;
  readonly endedAtMs: number | null;
  /** True when the next look confirms what an earlier one saw; such looks come first. */
  readonly isConfirming: boolean | null;
  /** The host and port that deliveries go to. */
  readonly receiver: string;
  /** Registrable domain of the host. */
  readonly domain: string | null;
  /** Key of the client that made the watch. */
  readonly client: string | null;
  /** True once the receiver has agreed: the watch counts among those of its receiver. */
  readonly holdsPlace: boolean | null;
  readonly state: JsonObject;
};

/** A text that a version refers to: the body of an event, or the state that the next look is compared with. */
export type WatchText = { readonly id: string; readonly text: string };

type WatchTextChange = {
  /** Random. */
  readonly attempt: string;
  /** The new ones. */
  readonly texts: readonly WatchText[];
  /** Ids to which the version does not refer any more. */
  readonly dropped: readonly string[];
};

export type WatchTime = 'lookAtMs' | 'sendAtMs';

export type DueOptions = {
  readonly upToMs: number;
  readonly limit: number;
  /** Hosts, or receivers, that are left out. */
  readonly except: readonly string[];
};

/** Selects watches that have not ended. */
export type LiveWatches = Partial<
  Pick<WatchVersion, 'domain' | 'receiver' | 'client' | 'holdsPlace'>
>;

/**
 * Watches as versions. A writer inserts the number after the one it has read, together with the new
 * texts. Of racing writers one wins, and a version is never stored without its texts.
 */
export function watchesOn({ tables, now }: StoreContext) {
  const { watches, watchTexts } = tables;

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
    async findNewest(host: string): Promise<WatchVersion | null> {
      const row = await watches.first({ host }, { order: [['n', 'desc']] });
      return row && toVersion(row);
    },

    /** On `lost` the caller reads the newest version again, and decides anew. */
    async append(
      { host, n, state: value, ...times }: WatchVersion,
      { attempt, texts, dropped }: WatchTextChange,
    ): Promise<InsertOutcome> {
      const state = toStoredJson(value, `the watch of ${host}`);
      for (const { id, text } of texts) await watchTexts.insert({ id, host, n, attempt, text });
      const row = { ...times, host, n, attempt, atMs: now(), isCurrent: true, state };
      const outcome = await watches.insertContended(row);
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

    async findText(id: string): Promise<string | null> {
      return (await watchTexts.get(id))?.text ?? null;
    },

    /** Hosts whose look is due: those with a confirming look, then the others, each earliest first. */
    async findDueLooks({ upToMs, limit, except }: DueOptions): Promise<readonly string[]> {
      const due = { lookAtMs: { upTo: upToMs }, host: { notIn: except } };
      const order = [['lookAtMs', 'asc']] as const;
      const urgent = await watches.all({ ...due, isConfirming: true }, { order, limit });
      const left = { order, limit: limit - urgent.length };
      const others =
        left.limit > 0 ? await watches.all({ ...due, isConfirming: { not: true } }, left) : [];
      return (await currentAmong([...urgent, ...others])).map(({ host }) => host);
    },

    /** Receivers to which a delivery is due, each once, earliest first, however many are due to one of them. */
    async findDueReceivers({ upToMs, limit, except }: DueOptions): Promise<readonly string[]> {
      const due = { sendAtMs: { upTo: upToMs }, receiver: { notIn: except } };
      const receivers = new Set<string>();
      for await (const rows of watches.batches(due, { order: [['sendAtMs', 'asc']] })) {
        for (const { receiver } of rows) if (receivers.size < limit) receivers.add(receiver);
        if (receivers.size === limit) break;
      }
      return [...receivers];
    },

    /** Watches of a receiver that have a delivery due, earliest first. */
    async findDueDeliveries(
      receiver: string,
      { upToMs, limit }: Omit<DueOptions, 'except'>,
    ): Promise<readonly WatchVersion[]> {
      const due = { receiver, sendAtMs: { upTo: upToMs } };
      const rows = await watches.all(due, { order: [['sendAtMs', 'asc']], limit });
      return (await currentAmong(rows)).map(toVersion);
    },

    /** Time of the earliest duty of any watch; null when none is planned. */
    async findFirstDutyMs(duty: WatchTime): Promise<number | null> {
      const row = await watches.first({ [duty]: { after: 0 } }, { order: [[duty, 'asc']] });
      return row?.[duty] ?? null;
    },

    /** At most `limit`, in no order. Reads what racing writers have stored so far. */
    async findLive(which: LiveWatches, limit: number): Promise<readonly WatchVersion[]> {
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
  const ended = { isCurrent: true, endedAtMs: { upTo: nowMs - ENDED_WATCH_KEPT_MS } };
  for await (const rows of watches.batches(ended)) {
    for (const { host, n } of rows) {
      const later = await watches.first({ host, n: { after: n } });
      await watchTexts.remove({ host, n: { upTo: n } });
      removed += await watches.remove({ host, n: later === null ? { upTo: n } : n });
    }
  }
  return removed;
}
