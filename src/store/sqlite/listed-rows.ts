/** The slim rows of listed hosts, and the one way in which they are written. */

import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { applyToCounts } from './listed-counts.ts';
import type { ListedMove, ListedRow } from './listed-move.ts';
import { IS_LISTED, IS_SUPPRESSED } from './record-sql.ts';
import type { Row } from './row.ts';

/**
 * One transaction in which `work` changes what is known of these hosts, and their rows among the
 * listed ones and all counters follow. Whatever writes records, opt-outs or confirms goes through it.
 */
export function changeHosts<T>(context: SqliteContext, hosts: readonly string[], work: () => T): T {
  const moves: ListedMove[] = [];
  const result = transactionOn(context, () => {
    const done = work();
    context.pageEnds.forget();
    for (const host of hosts) {
      context.recordRows.forget(host);
      moves.push(projectListed(context, host));
    }
    return done;
  });
  // After the commit: what was rolled back did not happen.
  for (const move of moves) context.substringCounts.follow(move);
  return result;
}

function transactionOn<T>({ connection, commonRuns }: SqliteContext, work: () => T): T {
  try {
    return connection.transaction(work);
  } catch (error) {
    commonRuns.forget();
    throw error;
  }
}

function projectListed(context: SqliteContext, host: string): ListedMove {
  const { connection } = context;
  const id = connection.get('SELECT id FROM records WHERE host = ?', host)?.integer('id');
  if (id === undefined) return { before: null, after: null };
  const before = readListed(
    connection.get(
      'SELECT id, host, grade, category, confirmed_at_ms FROM listed WHERE id = ?',
      id,
    ),
  );
  const wanted = connection.get(
    `SELECT r.id, r.host, r.scanned_at_ms, r.grade, r.score, r.category,
       (SELECT at_ms FROM confirms WHERE confirms.host = r.host) AS confirmed_at_ms,
       ${IS_SUPPRESSED} AS suppressed
     FROM records r WHERE r.id = ? AND ${IS_LISTED}`,
    id,
  );
  writeMarks(connection, id, wanted);
  if (wanted === null) connection.run('DELETE FROM listed WHERE id = ?', id);
  else {
    connection.run(
      `INSERT INTO listed (id, host, recency, grade, rank, category, confirmed_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET recency = excluded.recency, grade = excluded.grade,
         rank = excluded.rank, category = excluded.category,
         confirmed_at_ms = excluded.confirmed_at_ms`,
      id,
      host,
      -wanted.integer('scanned_at_ms'),
      wanted.text('grade'),
      -wanted.integer('score'),
      wanted.text('category'),
      wanted.integerOrNull('confirmed_at_ms'),
    );
  }
  const move = { before, after: readListed(wanted) };
  applyToCounts(context, move);
  return move;
}

/** Most hosts have neither, and no row. */
function writeMarks(connection: Connection, id: number, wanted: Row | null): void {
  connection.run('DELETE FROM listed_marks WHERE id = ?', id);
  if (wanted === null) return;
  const confirmedAtMs = wanted.integerOrNull('confirmed_at_ms');
  const suppressed = wanted.integer('suppressed');
  if (confirmedAtMs === null && suppressed === 0) return;
  connection.run(
    'INSERT INTO listed_marks (id, confirmed_at_ms, suppressed) VALUES (?, ?, ?)',
    id,
    confirmedAtMs,
    suppressed,
  );
}

function readListed(row: Row | null): ListedRow | null {
  return (
    row && {
      id: row.integer('id'),
      host: row.text('host'),
      grade: row.text('grade'),
      category: row.text('category'),
      isProved: row.integerOrNull('confirmed_at_ms') !== null,
    }
  );
}
