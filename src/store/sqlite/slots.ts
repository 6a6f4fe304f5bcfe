/** Numbered slots on SQLite. */
import { randomUUID } from 'node:crypto';
import type { SlotOutcome, SlotStore } from '../contract/slots.ts';
import { freeAgainAtMs, type SlotRow, scopeState, scopeText, slotOf } from '../shared/slots.ts';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import type { Row } from './row.ts';

export function sqliteSlots({ connection, owner, now }: SqliteContext): SlotStore {
  return {
    async take({
      scope,
      limit,
      lifetimeMs,
      endsWithOwner,
      group = null,
      data = null,
      attempt = randomUUID(),
    }) {
      const taking = (): SlotOutcome => {
        const { live, over, free } = scopeState(rowsOf(scope), limit, isOver);
        const own = live.find((row) => row.attempt === attempt);
        if (own) return { taken: true, slot: slotOf(own) };
        const [n] = free;
        if (n === undefined) return { taken: false, retryAtMs: freeAgainAtMs(live) };
        for (const row of over) remove(connection, row);
        const takenAtMs = now();
        const expiresAtMs = takenAtMs + lifetimeMs;
        connection.run(
          `INSERT INTO slots (scope, n, attempt, owner_host, owner_boot, ends_with_owner,
             taken_at_ms, expires_at_ms, slot_group, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          scopeText(scope),
          n,
          attempt,
          owner.host,
          owner.boot,
          endsWithOwner ? 1 : 0,
          takenAtMs,
          expiresAtMs,
          group,
          data,
        );
        return { taken: true, slot: { scope, n, attempt, owner, takenAtMs, expiresAtMs, data } };
      };
      return endsWithOwner ? connection.passingTransaction(taking) : connection.transaction(taking);
    },

    async release(slot) {
      const removing = () => remove(connection, slot);
      if (isPassing(connection, slot)) connection.passingTransaction(removing);
      else removing();
    },

    async live(which) {
      const rows =
        'group' in which
          ? connection.all('SELECT * FROM slots WHERE slot_group = ?', which.group).map(toSlotRow)
          : rowsOf(which);
      return scopeState(rows, rows.length, isOver).live.map(slotOf);
    },
  };

  function rowsOf(scope: readonly string[]): readonly SlotRow[] {
    return connection.all('SELECT * FROM slots WHERE scope = ?', scopeText(scope)).map(toSlotRow);
  }

  function isOver(row: SlotRow): boolean {
    // One process per file: another owner of a slot is a process that ended.
    return row.expiresAtMs <= now() || (row.endsWithOwner && row.owner.boot !== owner.boot);
  }
}

type SlotName = Pick<SlotRow, 'scope' | 'n' | 'attempt'>;

/** Whether it stands for work of its owner, so that no loss of power needs to be outlived. */
function isPassing(connection: Connection, { scope, n }: SlotName): boolean {
  const sql = 'SELECT ends_with_owner FROM slots WHERE scope = ? AND n = ?';
  return connection.get(sql, scopeText(scope), n)?.integer('ends_with_owner') === 1;
}

function remove(connection: Connection, { scope, n, attempt }: SlotName): void {
  connection.run(
    'DELETE FROM slots WHERE scope = ? AND n = ? AND attempt = ?',
    scopeText(scope),
    n,
    attempt,
  );
}

function toSlotRow(row: Row): SlotRow {
  return {
    // `scopeText` is the only writer of this text.
    scope: JSON.parse(row.text('scope')),
    n: row.integer('n'),
    attempt: row.text('attempt'),
    owner: { host: row.text('owner_host'), boot: row.text('owner_boot') },
    endsWithOwner: row.integer('ends_with_owner') === 1,
    takenAtMs: row.integer('taken_at_ms'),
    expiresAtMs: row.integer('expires_at_ms'),
    data: row.textOrNull('data'),
  };
}
