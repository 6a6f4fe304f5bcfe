/** The purge on SQLite. */
import type { SQLInputValue } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { VERIFIED_FOR_MS } from '../contract/ownership.ts';
import { VERDICT_LIFETIME_MS } from '../contract/snapshots.ts';
import type { PurgeReport } from '../contract/store.ts';
import { ledgerHistoryExpired } from '../shared/ledger.ts';
import { RETENTION_MS } from '../shared/retention.ts';
import type { SqliteContext } from './context.ts';
import { readHistory } from './ledger.ts';

/** Rows, or keys, between two turns of the event loop. */
const BATCH = 200;

export async function purgeSqlite(context: SqliteContext, nowMs: number): Promise<PurgeReport> {
  const ledgerKeys = (await purgeUnsent(context, nowMs)) + (await purgeLedger(context, nowMs));
  const answers = await purgeAnswers(context, nowMs);
  // A scan that an unfinished payment names must still be publishable.
  const results = await deleteAll(
    context,
    'results',
    `scanned_at_ms <= ? AND NOT EXISTS (
       SELECT 1 FROM ledger JOIN ledger_open USING (key) WHERE ledger.scan_id = results.scan_id)`,
    nowMs - RETENTION_MS.result,
  );
  await deleteAll(
    context,
    'reports',
    `scanned_at_ms <= ?
       AND NOT EXISTS (SELECT 1 FROM results WHERE results.scan_id = reports.scan_id)
       AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.report_of = reports.scan_id)`,
    nowMs - RETENTION_MS.report,
  );
  let other = await purgeIdentifiers(context, nowMs);
  for (const [table, condition, ageMs] of SIMPLE_PURGES) {
    other += await deleteAll(context, table, condition, nowMs - ageMs);
  }
  return { ledgerKeys, answers, results, other };
}

/** Table, what may go, age. */
const SIMPLE_PURGES: readonly (readonly [string, string, number])[] = [
  ['unpaid', 'at_ms <= ?', RETENTION_MS.unpaidMark],
  ['slots', 'expires_at_ms <= ?', 0],
  [
    'leases',
    '?1 >= taken_at_ms AND (released_at_ms IS NOT NULL OR expires_at_ms <= ?1)',
    RETENTION_MS.endedLease,
  ],
  ['snapshots', 'taken_at_ms <= ?', RETENTION_MS.snapshot],
  ['verdicts', 'at_ms <= ?', VERDICT_LIFETIME_MS],
  ['confirms', 'at_ms <= ?', VERIFIED_FOR_MS],
];

const PRIMARY_KEYS: Readonly<Record<string, string>> = {
  results: 'scan_id',
  reports: 'scan_id',
  unpaid: 'payer, scan_id',
  slots: 'scope, n',
  leases: 'name, turn',
  snapshots: 'source, key',
  verdicts: 'host, check_id',
  confirms: 'host',
};

async function deleteAll(
  { connection }: SqliteContext,
  table: string,
  condition: string,
  ...values: readonly SQLInputValue[]
): Promise<number> {
  const key = PRIMARY_KEYS[table];
  const sql = `DELETE FROM ${table} WHERE (${key}) IN (
    SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${BATCH})`;
  let total = 0;
  for (;;) {
    const deleted = connection.run(sql, ...values);
    total += deleted;
    if (deleted < BATCH) return total;
    await nextTurn();
  }
}

const FINISHED_KEYS = `SELECT DISTINCT key FROM ledger WHERE at_ms <= ? AND key > ?
   AND NOT EXISTS (SELECT 1 FROM ledger_open WHERE ledger_open.key = ledger.key)
 ORDER BY key LIMIT ?`;
const RELEASED_KEYS = `SELECT DISTINCT key FROM ledger
 WHERE state = 'released' AND at_ms <= ? AND key > ?
   AND NOT EXISTS (SELECT 1 FROM ledger AS sent
     WHERE sent.key = ledger.key AND sent.state NOT IN ('claimed', 'computed', 'released'))
   AND NOT EXISTS (SELECT 1 FROM ledger_open WHERE ledger_open.key = ledger.key)
 ORDER BY key LIMIT ?`;

function purgeLedger(context: SqliteContext, nowMs: number): Promise<number> {
  return purgeKeys(context, FINISHED_KEYS, nowMs, RETENTION_MS.ledgerKey);
}

/** Keys that were claimed and released, and never sent: any key pair can write them. */
function purgeUnsent(context: SqliteContext, nowMs: number): Promise<number> {
  return purgeKeys(context, RELEASED_KEYS, nowMs, RETENTION_MS.unsentKey);
}

async function purgeKeys(
  context: SqliteContext,
  candidates: string,
  nowMs: number,
  ageMs: number,
): Promise<number> {
  const { connection } = context;
  let purged = 0;
  let afterKey = '';
  for (;;) {
    const keys = connection.all(candidates, nowMs - ageMs, afterKey, BATCH);
    for (const row of keys) {
      afterKey = row.text('key');
      const history = readHistory(context, afterKey);
      if (history === null || !ledgerHistoryExpired(history, nowMs)) continue;
      connection.transaction(() => {
        connection.run('DELETE FROM ledger WHERE key = ?', history.key);
        connection.run('DELETE FROM ledger_written WHERE key = ?', history.key);
      });
      purged += 1;
    }
    if (keys.length < BATCH) return purged;
    await nextTurn();
  }
}

async function purgeAnswers({ connection }: SqliteContext, nowMs: number): Promise<number> {
  const ids = connection.all(
    `SELECT answer_id FROM answers WHERE started_at_ms <= ?
       AND NOT EXISTS (SELECT 1 FROM ledger JOIN ledger_open USING (key)
         WHERE ledger.answer_id = answers.answer_id)
       AND NOT EXISTS (SELECT 1 FROM ledger AS named
         JOIN ledger AS paid ON paid.key = named.key AND paid.state = 'settled'
         WHERE named.answer_id = answers.answer_id AND paid.at_ms > ?)`,
    nowMs - RETENTION_MS.unpaidAnswer,
    nowMs - RETENTION_MS.settledAnswer,
  );
  for (const row of ids) {
    const answerId = row.text('answer_id');
    connection.transaction(() => {
      connection.run('DELETE FROM answers WHERE answer_id = ?', answerId);
      connection.run('DELETE FROM answer_chunks WHERE answer_id = ?', answerId);
    });
    await nextTurn();
  }
  return ids.length;
}

/** Chains whose last link is old enough, once the ledger has forgotten every key in them. */
async function purgeIdentifiers({ connection }: SqliteContext, nowMs: number): Promise<number> {
  const sinceMs = nowMs - RETENTION_MS.identifierChain;
  let deleted = 0;
  let after = { atMs: -1, network: '', payer: '', id: '' };
  for (;;) {
    const links = connection.all(
      `SELECT at_ms, network, payer, id FROM identifiers
       WHERE at_ms <= ? AND (at_ms, network, payer, id) > (?, ?, ?, ?)
       ORDER BY at_ms, network, payer, id LIMIT ?`,
      sinceMs,
      after.atMs,
      after.network,
      after.payer,
      after.id,
      BATCH,
    );
    for (const link of links) {
      const network = link.text('network');
      const payer = link.text('payer');
      const id = link.text('id');
      after = { atMs: link.integer('at_ms'), network, payer, id };
      deleted += connection.run(
        `DELETE FROM identifiers WHERE network = ?1 AND payer = ?2 AND id = ?3
           AND NOT EXISTS (SELECT 1 FROM identifiers AS link
             WHERE link.network = ?1 AND link.payer = ?2 AND link.id = ?3 AND (link.at_ms > ?4
               OR EXISTS (SELECT 1 FROM ledger WHERE ledger.key = link.key)))`,
        network,
        payer,
        id,
        sinceMs,
      );
    }
    if (links.length < BATCH) return deleted;
    await nextTurn();
  }
}
