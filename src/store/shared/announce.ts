import { randomUUID } from 'node:crypto';
import type { PublishedScan } from '../contract/published-scan.ts';
import { StoreError } from '../contract/store-error.ts';
import type { StoreContext } from './context.ts';
import { HostHistory } from './host-history.ts';
import { nextChange } from './next-change.ts';
import { ownerOf } from './owners.ts';
import { jitter } from './table.ts';

type Announcement = {
  /** Unique: announcing the same again adds nothing. */
  readonly scanId: string;
  /** Readers were not told of the host, or may have dropped it. */
  readonly isListing: boolean;
};

/** Tells readers of a host that its owner has listed again, with the row of this number. */
export async function announceListing(
  context: StoreContext,
  host: string,
  n: number,
): Promise<void> {
  const history = await HostHistory.follow(context, host);
  if (history.newest === null || !history.reached) return;
  const announcement = { scanId: `listing ${n}`, isListing: true };
  await context.feed.inTurn(() => appendChange(context, history, announcement));
}

export async function appendChange(
  context: StoreContext,
  history: HostHistory,
  { scanId, isListing }: Announcement,
): Promise<void> {
  const { tables, feed, now } = context;
  const attempt = randomUUID();
  for (;;) {
    const tail = await feed.tail();
    const { host } = newestOf(history);
    const lastOfHost = isListing ? null : await feed.lastOf(host, tail?.n ?? 0);
    const { state } = await ownerOf(context, host);
    // After the tail was read: whatever the feed has announced by then is in the history too. And
    // if the number after the tail is won, nothing was announced in between.
    await history.catchUp();
    const current = newestOf(history);
    const change = nextChange({ scanId, current, tail, lastOfHost, nowMs: now() });
    const { previousGrade = null, previousScore = null } = change;
    const hidden = !history.reached || !state.listed;
    const row = { ...change, attempt, previousGrade, previousScore, hidden };
    if ((await tables.changes.decide(row)) === 'won') return;
    const holder = await tables.changes.get(change.n);
    if (holder?.scanId === scanId || (await tables.changes.first({ scanId }))) return;
    await jitter();
  }
}

export function newestOf({ newest }: HostHistory): PublishedScan {
  if (newest) return newest;
  throw new StoreError('corrupt', 'a history lost its rows; restore the store from a backup');
}
