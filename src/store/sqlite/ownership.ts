/** Proof of domain control: tokens, failures, confirms on SQLite. */
import type { OwnershipStore, SlotOutcome } from '../contract/ownership.ts';
import { RETENTION_MS } from '../rules/retention.ts';
import { SLOT_LIMITS, type SlotScope, type SlotState, slotState } from '../rules/slots.ts';
import type { SqliteContext } from './context.ts';

export function sqliteOwnership(context: SqliteContext): OwnershipStore {
  const { connection, now } = context;
  return {
    async issueToken({ host, client, tokenHash }) {
      return takeSlot(context, { kind: 'token', host, client }, tokenHash);
    },

    async liveTokens(host) {
      const rows = connection.all(
        `SELECT client, token_hash, at_ms FROM slots
         WHERE kind = 'token' AND host = ? AND at_ms > ? ORDER BY at_ms`,
        host,
        now() - RETENTION_MS.slot,
      );
      return rows.map((row) => ({
        tokenHash: row.text('token_hash'),
        client: row.text('client'),
        expiresAtMs: row.integer('at_ms') + RETENTION_MS.slot,
      }));
    },

    async failedConfirms({ host, client }) {
      const { used, retryAtMs } = readSlots(context, { kind: 'failed_confirm', host, client });
      return { used, retryAtMs };
    },

    async noteFailedConfirm({ host, client }) {
      return takeSlot(context, { kind: 'failed_confirm', host, client }, null);
    },

    async takeChallengeFetch(host) {
      return takeSlot(context, { kind: 'challenge_fetch', host, client: '' }, null);
    },

    async recordConfirm({ host, tokenHash }) {
      connection.run(
        `INSERT INTO confirms (host, at_ms, token_hash) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms, token_hash = excluded.token_hash`,
        host,
        now(),
        tokenHash,
      );
    },

    async lastConfirm(host) {
      const row = connection.get('SELECT at_ms, token_hash FROM confirms WHERE host = ?', host);
      return row && { atMs: row.integer('at_ms'), tokenHash: row.text('token_hash') };
    },
  };
}

function readSlots({ connection, now }: SqliteContext, scope: SlotScope): SlotState {
  const { kind, host, client } = scope;
  const newest = connection.all(
    `SELECT n, at_ms FROM slots WHERE kind = ? AND host = ? AND client = ?
     ORDER BY n DESC LIMIT ?`,
    kind,
    host,
    client,
    SLOT_LIMITS[kind],
  );
  const slots = newest.map((row) => ({ n: row.integer('n'), atMs: row.integer('at_ms') }));
  return slotState(kind, slots, now());
}

function takeSlot(context: SqliteContext, scope: SlotScope, tokenHash: string | null): SlotOutcome {
  const { connection, now } = context;
  return connection.transaction(() => {
    const { next, retryAtMs } = readSlots(context, scope);
    if (retryAtMs !== null) return { taken: false, retryAtMs };
    const atMs = now();
    connection.run(
      `INSERT INTO slots (kind, host, client, n, at_ms, token_hash) VALUES (?, ?, ?, ?, ?, ?)`,
      scope.kind,
      scope.host,
      scope.client,
      next,
      atMs,
      tokenHash,
    );
    return { taken: true, atMs };
  });
}
