import type { ChangeStore, DirectoryChange } from '../contract/changes.ts';
import type { StoreContext } from './context.ts';
import { optedOutHosts } from './owners.ts';
import type { Row } from './tables.ts';

/** Rows that are read together where some of them are of hosts that opted out. */
const MIN_BATCH = 50;

export function changesOn(context: StoreContext): ChangeStore {
  return {
    async list({ sinceMs, limit }) {
      const told: Row<'changes'>[] = [];
      // Asked again after the rows were read: an owner may have opted out meanwhile.
      for (let after = sinceMs; ; ) {
        const wanted = Math.max(MIN_BATCH, limit + 1 - told.length);
        const rows = await context.tables.changes.all(
          { changedAtMs: { after }, hidden: { not: true } },
          { order: [['changedAtMs', 'asc']], limit: wanted },
        );
        const optedOut = new Set(await optedOutHosts(context));
        told.push(...rows.filter((row) => !optedOut.has(row.host)));
        after = rows.at(-1)?.changedAtMs ?? after;
        // One more than asked for tells whether there are more.
        if (rows.length < wanted || told.length > limit) {
          const listed = told.filter((row) => !optedOut.has(row.host));
          return { changes: listed.slice(0, limit).map(toChange), hasMore: told.length > limit };
        }
      }
    },

    async newest(limit) {
      const rows = await context.tables.changes.all(
        { hidden: { not: true } },
        { order: [['changedAtMs', 'desc']], limit },
      );
      // Asked after the rows were read: an owner may have opted out meanwhile.
      const optedOut = new Set(await optedOutHosts(context));
      return rows.filter((row) => !optedOut.has(row.host)).map(toChange);
    },
  };
}

function toChange(row: Row<'changes'>): DirectoryChange {
  const { n, scanId, changeType, changedAtMs, host, grade, score, checksVersion } = row;
  const change = { n, scanId, changeType, changedAtMs, host, grade, score, checksVersion };
  const { previousGrade, previousScore } = row;
  if (previousGrade === null || previousScore === null) return change;
  return { ...change, previousGrade, previousScore };
}
