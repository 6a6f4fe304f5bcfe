/** Leases, one insert a turn on SQLite. A turn ends with its process, so none needs to outlive a loss of power. */
import type { Lease, LeaseStore } from '../contract/leases.ts';
import { type LeaseTurn, leaseOf, leaseOver } from '../shared/leases.ts';
import type { SqliteContext } from './context.ts';

export function sqliteLeases(context: SqliteContext): LeaseStore {
  const { connection, owner, now } = context;
  return {
    async take({ name, attempt, lifetimeMs }) {
      return connection.passingTransaction(() => {
        const last = lastTurn(context, name);
        if (last && !over(last)) {
          return last.attempt === attempt
            ? { held: true, lease: leaseOf(last) }
            : { held: false, heldBy: leaseOf(last) };
        }
        const takenAtMs = now();
        const expiresAtMs = takenAtMs + lifetimeMs;
        const turn = (last?.turn ?? 0) + 1;
        connection.run(
          `INSERT INTO leases (name, turn, owner_host, owner_boot, attempt, taken_at_ms,
             expires_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)`,
          name,
          turn,
          owner.host,
          owner.boot,
          attempt,
          takenAtMs,
          expiresAtMs,
        );
        return { held: true, lease: { name, turn, owner, attempt, takenAtMs, expiresAtMs } };
      });
    },

    async isHeld(lease) {
      const last = lastTurn(context, lease.name);
      return last !== null && sameTurn(last, lease) && !over(last);
    },

    async release({ name, turn, attempt }) {
      connection.passingTransaction(() =>
        connection.run(
          `UPDATE leases SET released_at_ms = ?
           WHERE name = ? AND turn = ? AND attempt = ? AND released_at_ms IS NULL`,
          now(),
          name,
          turn,
          attempt,
        ),
      );
    },
  };

  function over(turn: LeaseTurn): boolean {
    // One process per file: another owner of a turn is a process that ended.
    return leaseOver(turn, turn.owner.boot === owner.boot, now());
  }
}

function sameTurn(a: Lease, b: Lease): boolean {
  return a.turn === b.turn && a.attempt === b.attempt;
}

function lastTurn({ connection }: SqliteContext, name: string): LeaseTurn | null {
  const row = connection.get(
    'SELECT * FROM leases WHERE name = ? ORDER BY turn DESC LIMIT 1',
    name,
  );
  return (
    row && {
      name,
      turn: row.integer('turn'),
      owner: { host: row.text('owner_host'), boot: row.text('owner_boot') },
      attempt: row.text('attempt'),
      takenAtMs: row.integer('taken_at_ms'),
      expiresAtMs: row.integer('expires_at_ms'),
      releasedAtMs: row.integerOrNull('released_at_ms'),
    }
  );
}
