/**
 * Each index holds everything that its list is filtered by and counted from, so that skipped hosts cost no look-up of
 * their row.
 */
const RECORD_INDEXES = `
  CREATE INDEX records_recent ON records (scanned_at_ms DESC, host, category, grade);
  CREATE INDEX records_grade ON records (grade, score DESC, scanned_at_ms DESC, host, category);
  CREATE INDEX records_category ON records (category, scanned_at_ms DESC, host);`;

/** The JSON of reports, packed; apart from the results, because answers refer to them for longer. */
const REPORTS = `
  CREATE TABLE reports (
    scan_id TEXT PRIMARY KEY, scanned_at_ms INTEGER NOT NULL, report BLOB NOT NULL
  ) STRICT;
  CREATE INDEX reports_by_time ON reports (scanned_at_ms);`;

/** The schema of a new file. */
export const SCHEMA = `
  CREATE TABLE ledger (
    key TEXT NOT NULL, step INTEGER NOT NULL, state TEXT NOT NULL, attempt TEXT NOT NULL,
    at_ms INTEGER NOT NULL, owner_host TEXT NOT NULL, owner_boot TEXT NOT NULL,
    payer TEXT NOT NULL, request TEXT NOT NULL, valid_before_ms INTEGER NOT NULL,
    scan_id TEXT, answer_id TEXT, data TEXT NOT NULL,
    UNIQUE (key, step)
  ) STRICT;
  CREATE INDEX ledger_settled ON ledger (payer, at_ms) WHERE state = 'settled';
  CREATE INDEX ledger_released ON ledger (key, at_ms) WHERE state = 'released';
  CREATE INDEX ledger_unknown ON ledger (payer, at_ms) WHERE state = 'unknown';
  CREATE INDEX ledger_by_time ON ledger (at_ms);
  CREATE INDEX ledger_by_answer ON ledger (answer_id) WHERE answer_id IS NOT NULL;
  CREATE INDEX ledger_by_scan ON ledger (scan_id) WHERE scan_id IS NOT NULL;

  CREATE TABLE ledger_open (
    key TEXT PRIMARY KEY, since_ms INTEGER NOT NULL, payer TEXT NOT NULL, request TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ledger_open_by_time ON ledger_open (since_ms, key);
  CREATE INDEX ledger_open_by_request ON ledger_open (payer, request);

  CREATE TABLE ledger_written (key TEXT PRIMARY KEY, at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE answers (
    answer_id TEXT PRIMARY KEY, started_at_ms INTEGER NOT NULL, status INTEGER, headers TEXT,
    body_bytes INTEGER, body_sha256 TEXT, stored_at_ms INTEGER, report_of TEXT,
    stored_bytes INTEGER
  ) STRICT;
  CREATE INDEX answers_by_report ON answers (report_of) WHERE report_of IS NOT NULL;
  CREATE INDEX answers_by_time ON answers (started_at_ms);
  CREATE TABLE answer_chunks (
    answer_id TEXT NOT NULL, n INTEGER NOT NULL, bytes BLOB NOT NULL, UNIQUE (answer_id, n)
  ) STRICT;

  CREATE TABLE identifiers (
    network TEXT NOT NULL, payer TEXT NOT NULL, id TEXT NOT NULL, n INTEGER NOT NULL,
    request TEXT NOT NULL, key TEXT NOT NULL, attempt TEXT NOT NULL, at_ms INTEGER NOT NULL,
    PRIMARY KEY (network, payer, id, n)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX identifiers_by_time ON identifiers (at_ms);

  CREATE TABLE results (
    scan_id TEXT PRIMARY KEY, host TEXT NOT NULL, scanned_at_ms INTEGER NOT NULL,
    submitted_url TEXT NOT NULL
  ) STRICT;
  CREATE INDEX results_by_host ON results (host, scanned_at_ms);
  CREATE INDEX results_by_time ON results (scanned_at_ms);
  ${REPORTS}
  CREATE TABLE unpaid (
    payer TEXT NOT NULL, scan_id TEXT NOT NULL, host TEXT NOT NULL, at_ms INTEGER NOT NULL,
    is_debt INTEGER NOT NULL, PRIMARY KEY (payer, scan_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX unpaid_by_payer ON unpaid (payer, at_ms);
  CREATE INDEX unpaid_by_time ON unpaid (at_ms);

  CREATE TABLE history (
    host TEXT NOT NULL, seq INTEGER NOT NULL, scan_id TEXT NOT NULL UNIQUE,
    scanned_at_ms INTEGER NOT NULL, grade TEXT NOT NULL, score INTEGER NOT NULL,
    checks_version TEXT NOT NULL,
    UNIQUE (host, seq)
  ) STRICT;
  CREATE INDEX history_by_host ON history (host, scanned_at_ms, scan_id);

  CREATE TABLE records (
    id INTEGER PRIMARY KEY, host TEXT NOT NULL UNIQUE, scan_id TEXT NOT NULL,
    scanned_at_ms INTEGER NOT NULL, grade TEXT NOT NULL, score INTEGER NOT NULL,
    category TEXT NOT NULL, first_seen_at_ms INTEGER NOT NULL, scan_count INTEGER NOT NULL,
    scan TEXT NOT NULL
  ) STRICT;
  ${RECORD_INDEXES}

  CREATE TABLE changes (
    n INTEGER PRIMARY KEY, scan_id TEXT NOT NULL UNIQUE, change_type TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL UNIQUE, host TEXT NOT NULL, grade TEXT NOT NULL,
    score INTEGER NOT NULL, checks_version TEXT NOT NULL, previous_grade TEXT,
    previous_score INTEGER
  ) STRICT;
  CREATE INDEX changes_by_host ON changes (host, n);

  CREATE TABLE slots (
    scope TEXT NOT NULL, n INTEGER NOT NULL, attempt TEXT NOT NULL, owner_host TEXT NOT NULL,
    owner_boot TEXT NOT NULL, ends_with_owner INTEGER NOT NULL, taken_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL, slot_group TEXT, data TEXT,
    PRIMARY KEY (scope, n)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX slots_by_end ON slots (expires_at_ms);
  CREATE INDEX slots_by_group ON slots (slot_group) WHERE slot_group IS NOT NULL;
  CREATE TABLE confirms (
    host TEXT PRIMARY KEY, at_ms INTEGER NOT NULL, token_hash TEXT NOT NULL,
    key_hash TEXT NOT NULL, client TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX confirms_by_time ON confirms (at_ms);
  CREATE TABLE listing (
    setting TEXT NOT NULL, host TEXT NOT NULL, value INTEGER NOT NULL, at_ms INTEGER NOT NULL,
    keyed_by TEXT,
    PRIMARY KEY (setting, host)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE versions (name TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE leases (
    name TEXT NOT NULL, turn INTEGER NOT NULL, owner_host TEXT NOT NULL, owner_boot TEXT NOT NULL,
    attempt TEXT NOT NULL, taken_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL,
    released_at_ms INTEGER,
    PRIMARY KEY (name, turn)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX leases_by_time ON leases (taken_at_ms);

  CREATE TABLE snapshots (
    source TEXT NOT NULL, key TEXT NOT NULL, taken_at_ms INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (source, key)
  ) STRICT;
  CREATE INDEX snapshots_by_time ON snapshots (taken_at_ms);
  CREATE TABLE verdicts (
    host TEXT NOT NULL, check_id TEXT NOT NULL, at_ms INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (host, check_id)
  ) STRICT;
  CREATE INDEX verdicts_by_time ON verdicts (at_ms);
`;

/** The oldest `user_version` that can be brought to the present schema. */
export const OLDEST_VERSION = 8;

/** Each step brings a file from one `user_version` to the next, beginning with the oldest. */
export const STEPS: readonly string[] = [
  `
  DROP TABLE listed;
  DROP TABLE listed_counts;
  DROP TABLE listed_marks;
  DROP TABLE ngram_counts;
  DROP TABLE common_runs;
  DROP TABLE host_trigrams;
  ${RECORD_INDEXES}
  `,
  `
  ${REPORTS}
  INSERT INTO reports SELECT scan_id, scanned_at_ms, CAST(report AS BLOB) FROM results;
  ALTER TABLE results DROP COLUMN report;
  ALTER TABLE answers ADD COLUMN report_of TEXT;
  ALTER TABLE answers ADD COLUMN stored_bytes INTEGER;
  UPDATE answers SET stored_bytes = body_bytes;
  CREATE INDEX answers_by_report ON answers (report_of) WHERE report_of IS NOT NULL;
  `,
];
