/** The feed of changes on MongoDB. */
import type { ChangeStore, DirectoryChange } from '../contract/changes.ts';
import type { InsertOutcome } from '../contract/insert-outcome.ts';
import { changeId } from './change-feed.ts';
import type { MongoContext } from './context.ts';
import type { ChangeDocument } from './documents.ts';
import { listingOf, optedOutHosts } from './owner-preferences.ts';

export function mongoChanges(context: MongoContext): ChangeStore {
  return {
    async list({ sinceMs, limit }) {
      const optedOut = await optedOutHosts(context);
      // One more than asked for tells whether there are more.
      const rows = await context.changes.all(
        {
          changedAtMs: { $gt: sinceMs },
          ...(optedOut.length > 0 ? { host: { $nin: [...optedOut] } } : {}),
        },
        { sort: { changedAtMs: 1 }, limit: limit + 1 },
      );
      // Owners are asked again after the rows were read: one may have opted out meanwhile.
      const page = rows.slice(0, limit);
      const settings = await listingOf(
        context,
        page.map((row) => row.host),
      );
      const listed = page.filter((row) => settings.get(row.host)?.listed !== false);
      return { changes: listed.map(toChange), hasMore: rows.length > limit };
    },
  };
}

/** Tries to be this number of the feed. Lost: the number, or the scan, is in the feed already. */
export function insertChange(
  { changes }: Pick<MongoContext, 'changes'>,
  { previousGrade, previousScore, ...members }: DirectoryChange,
  attempt: string,
): Promise<InsertOutcome> {
  const row = {
    ...members,
    _id: changeId(members.n),
    attempt,
    previousGrade: previousGrade ?? null,
    previousScore: previousScore ?? null,
  };
  return changes.decide(row, { scanId: members.scanId });
}

function toChange({
  _id,
  attempt,
  previousGrade,
  previousScore,
  ...members
}: ChangeDocument): DirectoryChange {
  if (previousGrade === null || previousScore === null) return members;
  return { ...members, previousGrade, previousScore };
}
