/** Publication of a scan: history, record, change on SQLite. */
import { HISTORY_ROWS_PER_HOST } from '../contract/history.ts';
import type { PublishedScan } from '../contract/published-scan.ts';
import { StoreError } from '../contract/store-error.ts';
import { nextChange } from '../rules/changes.ts';
import { NGRAM_LENGTH, ngramsOf } from '../rules/host-ngrams.ts';
import { publishedScanFromJson, publishedScanToJson } from '../rules/published-scan.ts';
import { gradeFromText } from '../rules/stored-json.ts';
import type { SqliteContext } from './context.ts';

/** History row, record and change in one transaction; nothing is left to do a second time. */
export function publishToSqlite(context: SqliteContext, scan: PublishedScan): void {
  const { connection } = context;
  connection.transaction(() => {
    if (connection.get('SELECT n FROM changes WHERE scan_id = ?', scan.scanId)) return;
    insertHistory(context, scan);
    const current = projectRecord(context, scan.host);
    insertChange(context, scan.scanId, current);
  });
}

function insertHistory({ connection }: SqliteContext, scan: PublishedScan): void {
  const tail = connection.get(
    'SELECT seq, first_seen_at_ms FROM history WHERE host = ? ORDER BY seq DESC LIMIT 1',
    scan.host,
  );
  const seq = (tail?.integer('seq') ?? 0) + 1;
  const firstSeenAtMs = Math.min(
    tail?.integer('first_seen_at_ms') ?? scan.scannedAtMs,
    scan.scannedAtMs,
  );
  connection.run(
    `INSERT INTO history (host, seq, scan_id, scanned_at_ms, grade, score, checks_version,
       first_seen_at_ms, scan) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    scan.host,
    seq,
    scan.scanId,
    scan.scannedAtMs,
    scan.grade,
    scan.score,
    scan.checksVersion,
    firstSeenAtMs,
    publishedScanToJson(scan),
  );
  connection.run(
    'DELETE FROM history WHERE host = ? AND seq <= ?',
    scan.host,
    seq - HISTORY_ROWS_PER_HOST,
  );
}

/** Rewrites the host's record from its newest history row, and answers that row's scan. */
function projectRecord(context: SqliteContext, host: string): PublishedScan {
  const { connection } = context;
  const newest = connection.get(
    'SELECT scan FROM history WHERE host = ? ORDER BY scanned_at_ms DESC, scan_id DESC LIMIT 1',
    host,
  );
  const tail = connection.get(
    'SELECT seq, first_seen_at_ms FROM history WHERE host = ? ORDER BY seq DESC LIMIT 1',
    host,
  );
  if (!newest || !tail) {
    throw new StoreError('corrupt', `the history of ${host} is gone; restore from a backup`);
  }
  const scan = publishedScanFromJson(newest.text('scan'));
  context.recordRows.forget(host);
  const inserted = connection.run(
    `INSERT INTO records (host, scan_id, scanned_at_ms, grade, score, category, first_seen_at_ms,
       scan_count, scan) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    host,
    ...recordValues(),
  );
  if (inserted > 0) indexHost(context, host);
  else {
    connection.run(
      `UPDATE records SET scan_id = ?, scanned_at_ms = ?, grade = ?, score = ?, category = ?,
         first_seen_at_ms = ?, scan_count = ?, scan = ? WHERE host = ?`,
      ...recordValues(),
      host,
    );
  }
  return scan;

  function recordValues(): readonly (string | number)[] {
    return [
      scan.scanId,
      scan.scannedAtMs,
      scan.grade,
      scan.score,
      scan.branding.category,
      tail?.integer('first_seen_at_ms') ?? scan.scannedAtMs,
      tail?.integer('seq') ?? 1,
      publishedScanToJson(scan),
    ];
  }
}

/** Full-text trigrams answer substrings of three and more characters, own n-grams the shorter ones. */
function indexHost({ connection }: SqliteContext, host: string): void {
  const id = connection.get('SELECT id FROM records WHERE host = ?', host)?.integer('id') ?? 0;
  connection.run('INSERT INTO host_trigrams (rowid, host) VALUES (?, ?)', id, host);
  for (let length = 1; length < NGRAM_LENGTH; length += 1) {
    for (const ngram of ngramsOf(host, length)) {
      connection.run('INSERT INTO host_ngrams (ngram, id) VALUES (?, ?)', ngram, id);
    }
  }
}

function insertChange(
  { connection, now }: SqliteContext,
  scanId: string,
  current: PublishedScan,
): void {
  const tail = connection.get('SELECT n, changed_at_ms FROM changes ORDER BY n DESC LIMIT 1');
  const last = connection.get(
    'SELECT grade, score FROM changes WHERE host = ? ORDER BY n DESC LIMIT 1',
    current.host,
  );
  const change = nextChange({
    scanId,
    current,
    tail: tail && { n: tail.integer('n'), changedAtMs: tail.integer('changed_at_ms') },
    lastOfHost: last && {
      grade: gradeFromText(last.text('grade')),
      score: last.integer('score'),
    },
    nowMs: now(),
  });
  connection.run(
    `INSERT INTO changes (n, scan_id, change_type, changed_at_ms, host, grade, score,
       checks_version, previous_grade, previous_score) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    change.n,
    change.scanId,
    change.changeType,
    change.changedAtMs,
    change.host,
    change.grade,
    change.score,
    change.checksVersion,
    change.previousGrade ?? null,
    change.previousScore ?? null,
  );
}
