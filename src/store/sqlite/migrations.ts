import { createTables } from './schema.ts';

/** The oldest `user_version` that can be brought to the present schema. */
export const OLDEST_VERSION = 8;

const OWNER = 'owner_host, owner_boot';

/**
 * Each step brings a file from one `user_version` to the next, beginning with the oldest.
 * @param tables the names of all tables in the file
 */
export const STEPS: readonly ((tables: readonly string[]) => string)[] = [
  () => `
  DROP TABLE listed;
  DROP TABLE listed_counts;
  DROP TABLE listed_marks;
  DROP TABLE ngram_counts;
  DROP TABLE common_runs;
  DROP TABLE host_trigrams;
  `,
  () => `
  CREATE TABLE reports (
    scan_id TEXT PRIMARY KEY, scanned_at_ms INTEGER NOT NULL, report BLOB NOT NULL
  ) STRICT;
  INSERT INTO reports SELECT scan_id, scanned_at_ms, CAST(report AS BLOB) FROM results;
  ALTER TABLE results DROP COLUMN report;
  ALTER TABLE answers ADD COLUMN report_of TEXT;
  ALTER TABLE answers ADD COLUMN stored_bytes INTEGER;
  UPDATE answers SET stored_bytes = body_bytes;
  `,
  // Every row is copied into new tables, made from the specifications.
  (tables) => `
  ${tables.map((table) => `ALTER TABLE ${table} RENAME TO old_${table};`).join('\n')}
  ${createTables()}
  INSERT INTO ledger SELECT key, step, state, attempt, at_ms, ${OWNER}, payer, request,
    valid_before_ms, scan_id, answer_id, data FROM old_ledger;
  INSERT INTO ledger_open SELECT key, (SELECT max(step) FROM old_ledger AS claim
    WHERE claim.key = old_ledger_open.key AND claim.state = 'claimed'), payer, request, since_ms
    FROM old_ledger_open;
  INSERT INTO ledger_written SELECT key, at_ms FROM old_ledger_written;
  INSERT INTO answers SELECT answer_id, started_at_ms, report_of, status, headers, body_bytes,
    body_sha256, stored_bytes, stored_at_ms, NULL FROM old_answers;
  INSERT INTO answer_chunks SELECT answer_id, n, bytes FROM old_answer_chunks;
  INSERT INTO results SELECT scan_id, host, scanned_at_ms, submitted_url FROM old_results;
  INSERT INTO reports SELECT scan_id, scanned_at_ms, report FROM old_reports;
  INSERT INTO identifiers SELECT json_array(network, payer, id), n, request, key, attempt, at_ms
    FROM old_identifiers;
  INSERT INTO unpaid SELECT payer, scan_id, host, is_debt, at_ms FROM old_unpaid;
  INSERT INTO history SELECT host, seq, scan_id, scan_id, scanned_at_ms, grade, score,
    checks_version, NULL, NULL FROM old_history;
  INSERT INTO records SELECT host, scan_id, scanned_at_ms, grade, score, category,
    first_seen_at_ms, scan_count, 1, scan FROM old_records;
  INSERT INTO changes SELECT n, scan_id, scan_id, change_type, changed_at_ms, host, grade, score,
    checks_version, previous_grade, previous_score, 0 FROM old_changes;
  INSERT INTO slots SELECT attempt, scope, n, ${OWNER}, ends_with_owner, taken_at_ms,
    expires_at_ms, slot_group, data FROM old_slots;
  INSERT INTO leases SELECT name, turn, ${OWNER}, attempt, taken_at_ms, expires_at_ms,
    released_at_ms FROM old_leases;
  INSERT INTO snapshots SELECT source, key, taken_at_ms, data FROM old_snapshots;
  INSERT INTO owners SELECT row_number() OVER (ORDER BY known.host), known.host, known.host,
    coalesce(listed.at_ms, hidden.at_ms, confirms.at_ms), coalesce(listed.value, 1),
    listed.keyed_by, coalesce(hidden.value, 0), hidden.keyed_by, confirms.at_ms, token_hash,
    key_hash, client
    FROM (SELECT host FROM old_listing UNION SELECT host FROM old_confirms) AS known
    LEFT JOIN old_listing AS listed ON listed.setting = 'listed' AND listed.host = known.host
    LEFT JOIN old_listing AS hidden
      ON hidden.setting = 'enrichmentSuppressed' AND hidden.host = known.host
    LEFT JOIN old_confirms AS confirms ON confirms.host = known.host;
  ${tables.map((table) => `DROP TABLE old_${table};`).join('\n')}
  `,
  () => `DROP INDEX IF EXISTS "ledger atMs";`,
  () => 'DROP TABLE IF EXISTS verdicts;',
];
