/** The ledger, one insert a step on SQLite. */
import type { InsertOutcome } from '../contract/insert-outcome.ts';
import {
  LEDGER_STATES,
  type LedgerAppend,
  type LedgerEntry,
  type LedgerRow,
  type LedgerState,
  type LedgerStore,
} from '../contract/ledger.ts';
import { StoreError } from '../contract/store-error.ts';
import { isTerminal, type LedgerHistory, ledgerEntry, ledgerHistory } from '../shared/ledger.ts';
import { objectFromStoredJson, toStoredJson } from '../shared/stored-json.ts';
import type { SqliteContext } from './context.ts';
import type { Row } from './row.ts';

/** Keys read at a time; between batches other work gets its turn. */
const UNFINISHED_BATCH = 500;

export function sqliteLedger(context: SqliteContext): LedgerStore {
  const { connection } = context;
  return {
    async append(row) {
      return connection.transaction(() => append(context, row));
    },

    async entry(key) {
      return readEntry(context, key);
    },

    async history(key) {
      return readHistory(context, key)?.rows ?? [];
    },

    unfinished: () => unfinished(context),

    async recent({ payer, request, sinceMs, unwritten = false }) {
      const keys = connection.all(
        `SELECT key FROM ledger
         WHERE payer = ?1 AND request = ?2 AND at_ms >= ?3 AND state = 'settled'
           AND (?4 = 0 OR NOT EXISTS (SELECT 1 FROM ledger_written WHERE ledger_written.key = ledger.key))
         UNION SELECT key FROM ledger_open WHERE payer = ?1 AND request = ?2`,
        payer,
        request,
        sinceMs,
        unwritten ? 1 : 0,
      );
      return keys
        .map((row) => readEntry(context, row.text('key')))
        .filter((entry): entry is LedgerEntry => entry !== null)
        .toSorted((a, b) => b.last.atMs - a.last.atMs);
    },

    async doubts({ payer, sinceMs }) {
      const rows = connection.all(
        `SELECT * FROM ledger WHERE payer = ? AND at_ms >= ? AND state = 'unknown'`,
        payer,
        sinceMs,
      );
      return rows.map(toLedgerRow);
    },

    async settledCount({ payer, sinceMs, limit }) {
      const row = connection.get(
        `SELECT count(*) AS settled FROM (SELECT 1 FROM ledger
         WHERE payer = ? AND at_ms >= ? AND state = 'settled' LIMIT ?)`,
        payer,
        sinceMs,
        limit,
      );
      return row?.integer('settled') ?? 0;
    },

    async markWritten(key) {
      connection.run(
        'INSERT INTO ledger_written (key, at_ms) VALUES (?, ?) ON CONFLICT DO NOTHING',
        key,
        context.now(),
      );
    },
  };
}

async function* unfinished(context: SqliteContext): AsyncGenerator<LedgerEntry> {
  let after = { sinceMs: -1, key: '' };
  for (;;) {
    const open = context.connection.all(
      `SELECT key, since_ms FROM ledger_open WHERE (since_ms, key) > (?, ?)
       ORDER BY since_ms, key LIMIT ?`,
      after.sinceMs,
      after.key,
      UNFINISHED_BATCH,
    );
    for (const row of open) {
      after = { sinceMs: row.integer('since_ms'), key: row.text('key') };
      const entry = readEntry(context, after.key);
      // It may have ended since the batch was read.
      if (entry && !isTerminal(entry.last.state)) yield entry;
    }
    if (open.length < UNFINISHED_BATCH) return;
  }
}

function append({ connection, owner, now }: SqliteContext, row: LedgerAppend): InsertOutcome {
  if (row.step > 1 && !hasStep(connection, row.key, row.step - 1)) return 'lost';
  const atMs = now();
  const inserted = connection.run(
    `INSERT INTO ledger (key, step, state, attempt, at_ms, owner_host, owner_boot, payer, request,
       valid_before_ms, scan_id, answer_id, data)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    row.key,
    row.step,
    row.state,
    row.attempt,
    atMs,
    owner.host,
    owner.boot,
    row.payer,
    row.request,
    row.validBeforeMs,
    row.scanId ?? null,
    row.answerId ?? null,
    toStoredJson(row.data, `step ${row.step} of a payment`),
  );
  if (inserted === 0) {
    const held = connection.get(
      'SELECT attempt FROM ledger WHERE key = ? AND step = ?',
      row.key,
      row.step,
    );
    return held?.text('attempt') === row.attempt ? 'won' : 'lost';
  }
  if (isTerminal(row.state)) {
    connection.run('DELETE FROM ledger_open WHERE key = ?', row.key);
  } else {
    connection.run(
      `INSERT INTO ledger_open (key, since_ms, payer, request) VALUES (?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
      row.key,
      atMs,
      row.payer,
      row.request,
    );
  }
  return 'won';
}

/** Without its predecessor, which a purge took, a step would begin a second life of its key. */
function hasStep(connection: SqliteContext['connection'], key: string, step: number): boolean {
  return (
    connection.get('SELECT 1 AS one FROM ledger WHERE key = ? AND step = ?', key, step) !== null
  );
}

/** Steps before the last claim are not touched: any caller can make a key have many. */
const CURRENT_CLAIM = `SELECT * FROM ledger WHERE key = ?1 AND step >= coalesce(
   (SELECT step FROM ledger WHERE key = ?1 AND state = 'claimed' ORDER BY step DESC LIMIT 1), 0)
 ORDER BY step`;

function readEntry({ connection }: SqliteContext, key: string): LedgerEntry | null {
  const rows = connection.all(CURRENT_CLAIM, key);
  if (rows.length === 0) return null;
  const written = connection.get('SELECT at_ms FROM ledger_written WHERE key = ?', key);
  return ledgerEntry(rows.map(toLedgerRow), written?.integer('at_ms') ?? null);
}

export function readHistory({ connection }: SqliteContext, key: string): LedgerHistory | null {
  const rows = connection.all('SELECT * FROM ledger WHERE key = ? ORDER BY step', key);
  return ledgerHistory(rows.map(toLedgerRow));
}

function toLedgerRow(row: Row): LedgerRow {
  return {
    key: row.text('key'),
    step: row.integer('step'),
    state: toState(row.text('state')),
    attempt: row.text('attempt'),
    atMs: row.integer('at_ms'),
    owner: { host: row.text('owner_host'), boot: row.text('owner_boot') },
    payer: row.text('payer'),
    request: row.text('request'),
    validBeforeMs: row.integer('valid_before_ms'),
    scanId: row.textOrNull('scan_id') ?? undefined,
    answerId: row.textOrNull('answer_id') ?? undefined,
    data: objectFromStoredJson(row.text('data')),
  };
}

function toState(text: string): LedgerState {
  const state = LEDGER_STATES.find((known) => known === text);
  if (state) return state;
  throw new StoreError('corrupt', `a ledger step has the unknown state "${text}"`);
}
