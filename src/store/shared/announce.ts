import { randomUUID } from 'node:crypto';
import type { PublishedScan } from '../contract/published-scan.ts';
import { StoreError } from '../contract/store-error.ts';
import type { StoreContext } from './context.ts';
import { HostHistory } from './host-history.ts';
import { findOwner } from './owners.ts';
import { jitter } from './table.ts';
import type { Row } from './tables.ts';

const NEWEST_FIRST = { order: [['n', 'desc']] } as const;

type Announcement = {
  /** Unique: announcing the same again adds nothing. */
  readonly scanId: string;
  /** True when the host is new to the feed's readers, or they may have dropped it. */
  readonly isListing: boolean;
};

/** Finds the last change of the feed; null while it is empty. */
export function lastChange({
  tables,
}: Pick<StoreContext, 'tables'>): Promise<Row<'changes'> | null> {
  return tables.changes.first({}, NEWEST_FIRST);
}

/** Adds a host to the feed that its owner has listed again, by the owner row of this number. */
export async function announceListing(
  context: StoreContext,
  host: string,
  n: number,
): Promise<void> {
  const history = await HostHistory.follow(context, host);
  if (history.newest === null || !history.reached) return;
  await announce(context, history, { scanId: `listing ${n}`, isListing: true });
}

/** Queues the writers of one process, because racing they would only lose numbers to each other. */
export async function announce(
  context: StoreContext,
  history: HostHistory,
  announcement: Announcement,
): Promise<void> {
  await context.announcing.add(() => appendChange(context, history, announcement));
}

/**
 * A change is compared with the feed's last entry of its host, not with the history. The feed thus never contradicts
 * itself, in whatever order instances publish, and a scan that is published late announces the current grade.
 */
async function appendChange(
  context: StoreContext,
  history: HostHistory,
  { scanId, isListing }: Announcement,
): Promise<void> {
  const { changes } = context.tables;
  const attempt = randomUUID();
  for (;;) {
    const tail = await lastChange(context);
    const told = { host: history.host, hidden: false };
    const lastTold = isListing ? null : await changes.first(told, NEWEST_FIRST);
    const { state } = await findOwner(context, history.host);
    // The history is read after the tail, so it holds every scan that the feed has announced. Winning
    // the number after the tail then proves that nothing was announced in between.
    await history.catchUp();
    const { host, grade, score, checksVersion } = requireNewest(history);
    const hasMoved = lastTold !== null && lastTold.grade !== grade;
    const row: Row<'changes'> = {
      n: (tail?.n ?? 0) + 1,
      attempt,
      scanId,
      changeType: hasMoved ? 'grade_changed' : lastTold === null ? 'new' : 'rescanned',
      changedAtMs: Math.max(context.now(), (tail?.changedAtMs ?? 0) + 1),
      host,
      grade,
      score,
      checksVersion,
      previousGrade: hasMoved ? lastTold.grade : null,
      previousScore: hasMoved ? lastTold.score : null,
      hidden: !history.reached || !state.listed,
    };
    if ((await changes.decide(row)) === 'won') return;
    if (await changes.first({ scanId })) return;
    await jitter();
  }
}

export function requireNewest({ newest }: HostHistory): PublishedScan {
  if (newest) return newest;
  throw new StoreError('corrupt', 'a history lost its rows; restore the store from a backup');
}
