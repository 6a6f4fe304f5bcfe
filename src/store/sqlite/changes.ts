/** The feed of changes on SQLite. */
import type { ChangeStore, ChangeType, DirectoryChange } from '../contract/changes.ts';
import { StoreError } from '../contract/store-error.ts';
import { gradeFromText } from '../shared/stored-json.ts';
import type { SqliteContext } from './context.ts';
import type { Row } from './row.ts';

export function sqliteChanges({ connection }: SqliteContext): ChangeStore {
  return {
    async list({ sinceMs, limit }) {
      // One more than asked for tells whether there are more.
      const rows = connection.all(
        `SELECT * FROM changes WHERE changed_at_ms > ?
           AND NOT EXISTS (SELECT 1 FROM listing
             WHERE setting = 'listed' AND listing.host = changes.host AND value = 0)
         ORDER BY changed_at_ms LIMIT ?`,
        sinceMs,
        limit + 1,
      );
      return { changes: rows.slice(0, limit).map(toChange), hasMore: rows.length > limit };
    },
  };
}

function toChange(row: Row): DirectoryChange {
  const previousGrade = row.textOrNull('previous_grade');
  return {
    n: row.integer('n'),
    scanId: row.text('scan_id'),
    changeType: toChangeType(row.text('change_type')),
    changedAtMs: row.integer('changed_at_ms'),
    host: row.text('host'),
    grade: gradeFromText(row.text('grade')),
    score: row.integer('score'),
    checksVersion: row.text('checks_version'),
    ...(previousGrade === null
      ? {}
      : {
          previousGrade: gradeFromText(previousGrade),
          previousScore: row.integer('previous_score'),
        }),
  };
}

function toChangeType(text: string): ChangeType {
  if (text === 'new' || text === 'grade_changed' || text === 'rescanned') return text;
  throw new StoreError('corrupt', `a stored change has the unknown type "${text}"`);
}
