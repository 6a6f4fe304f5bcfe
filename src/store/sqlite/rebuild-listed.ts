/** Makes everything that lists are read from anew, of the records and what owners want. */
import type { Connection } from './connection.ts';
import { rebuildRuns } from './rebuild-runs.ts';
import { IS_LISTED, IS_SUPPRESSED } from './record-sql.ts';
import { SEARCH_EFFORT } from './search-effort.ts';

/** Within the caller's transaction. */
export function rebuildListed(
  connection: Connection,
  commonAbove = SEARCH_EFFORT.candidates,
): void {
  for (const table of ['listed', 'listed_marks', 'listed_counts', 'ngram_counts', 'common_runs']) {
    connection.exec(`DELETE FROM ${table}`);
  }
  connection.exec("INSERT INTO host_trigrams (host_trigrams) VALUES ('delete-all')");
  connection.exec('INSERT INTO host_trigrams (rowid, host) SELECT id, host FROM records');
  connection.exec(`
    INSERT INTO listed (id, host, recency, grade, rank, category, confirmed_at_ms)
      SELECT r.id, r.host, -r.scanned_at_ms, r.grade, -r.score, r.category,
        (SELECT at_ms FROM confirms WHERE confirms.host = r.host)
      FROM records r WHERE ${IS_LISTED};
    INSERT INTO listed_marks (id, confirmed_at_ms, suppressed)
      SELECT id, confirmed_at_ms, suppressed
      FROM (SELECT l.id, l.confirmed_at_ms, ${IS_SUPPRESSED} AS suppressed
        FROM listed l CROSS JOIN records r ON r.id = l.id)
      WHERE confirmed_at_ms IS NOT NULL OR suppressed = 1;
    INSERT INTO listed_counts (category, grade, proved, n)
      SELECT category, grade, confirmed_at_ms IS NOT NULL, count(*) FROM listed GROUP BY 1, 2, 3;
  `);
  rebuildRuns(connection, commonAbove);
}
