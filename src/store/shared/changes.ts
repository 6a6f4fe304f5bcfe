import type { ChangeStore, DirectoryChange } from '../contract/changes.ts';
import type { StoreContext } from './context.ts';
import { optedOutHosts } from './owners.ts';
import type { Row } from './tables.ts';

/** At least this many rows are read at a time, because some may belong to hosts that opted out. */
const MIN_BATCH = 50;

export function changesOn(context: StoreContext): ChangeStore {
  return {
    async list({ sinceMs, limit }) {
      const told: Row<'changes'>[] = [];
      // Opt-outs are read again after the rows, because an owner may have opted out meanwhile.
      for (let after = sinceMs; ; ) {
        const wanted = Math.max(MIN_BATCH, limit + 1 - told.length);
        const rows = await context.tables.changes.all(
          { changedAtMs: { after }, hidden: { not: true } },
          { order: [['changedAtMs', 'asc']], limit: wanted },
        );
        const optedOut = new Set(await optedOutHosts(context));
        told.push(...rows.filter((row) => !optedOut.has(row.host)));
        after = rows.at(-1)?.changedAtMs ?? after;
        // A row beyond the limit shows that there are more.
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
      // Opt-outs are read after the rows, because an owner may have opted out meanwhile.
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
