/** Shares in SQLite. */
import type { ShareStore } from '../contract/shares.ts';
import type { SqliteContext } from './context.ts';

export function sqliteShares({ connection, owner, now }: SqliteContext): ShareStore {
  return {
    async take({ holder, limit, attempt, lifetimeMs, outlivesOwner = false }) {
      return connection.transaction(() => {
        // One process per file: the shares of whoever came before are gone with it.
        const rows = connection.all(
          `SELECT n, attempt FROM shares
           WHERE holder = ? AND expires_at_ms > ? AND (owner_boot = ? OR outlives_owner = 1)
           ORDER BY n`,
          holder,
          now(),
          owner.boot,
        );
        const own = rows.find((row) => row.text('attempt') === attempt);
        if (own) return { holder, n: own.integer('n'), attempt };
        if (rows.length >= limit) return null;
        const last = connection.get('SELECT max(n) AS n FROM shares WHERE holder = ?', holder);
        const n = (last?.integerOrNull('n') ?? 0) + 1;
        connection.run(
          `INSERT INTO shares (holder, n, attempt, owner_boot, outlives_owner, expires_at_ms)
           VALUES (?, ?, ?, ?, ?, ?)`,
          holder,
          n,
          attempt,
          owner.boot,
          outlivesOwner ? 1 : 0,
          now() + lifetimeMs,
        );
        return { holder, n, attempt };
      });
    },

    async release({ holder, n, attempt }) {
      connection.run(
        'DELETE FROM shares WHERE holder = ? AND n = ? AND attempt = ?',
        holder,
        n,
        attempt,
      );
    },
  };
}
