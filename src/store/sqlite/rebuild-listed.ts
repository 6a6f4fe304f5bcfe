/** Makes everything that lists are read from anew, of the records and what owners want. */
import { allNgramsOf } from '../rules/host-ngrams.ts';
import type { Connection } from './connection.ts';
import { IS_LISTED, IS_SUPPRESSED } from './record-sql.ts';

/** Hosts that are read together. */
const BATCH = 10_000;

/** Within the caller's transaction. */
export function rebuildListed(connection: Connection): void {
  for (const table of ['listed', 'listed_marks', 'listed_counts', 'ngram_counts']) {
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
  countNgrams(connection);
}

function countNgrams(connection: Connection): void {
  const counts = new Map<string, Map<string, number>>();
  for (let after = -1; ; ) {
    const rows = connection.all(
      `SELECT id, host, category, confirmed_at_ms IS NOT NULL AS proved FROM listed
       WHERE id > ? ORDER BY id LIMIT ${BATCH}`,
      after,
    );
    for (const row of rows) {
      const group = `${row.integer('proved')}${row.text('category')}`;
      const ofGroup = counts.get(group) ?? new Map<string, number>();
      counts.set(group, ofGroup);
      for (const ngram of allNgramsOf(row.text('host'))) {
        ofGroup.set(ngram, (ofGroup.get(ngram) ?? 0) + 1);
      }
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.integer('id');
  }
  for (const [group, ofGroup] of counts) {
    for (const [ngram, n] of ofGroup) {
      connection.run(
        'INSERT INTO ngram_counts (ngram, category, proved, n) VALUES (?, ?, ?, ?)',
        ngram,
        group.slice(1),
        Number(group.slice(0, 1)),
        n,
      );
    }
  }
}
