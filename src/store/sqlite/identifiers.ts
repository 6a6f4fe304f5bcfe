/** Payment identifiers on SQLite. */
import type { IdentifierStore } from '../contract/identifiers.ts';
import type { SqliteContext } from './context.ts';

export function sqliteIdentifiers({ connection, now }: SqliteContext): IdentifierStore {
  return {
    async chain({ network, payer, id }, newest) {
      const rows = connection.all(
        `SELECT n, request, key, at_ms FROM identifiers
         WHERE network = ? AND payer = ? AND id = ? ORDER BY n DESC LIMIT ?`,
        network,
        payer,
        id,
        newest,
      );
      return rows.toReversed().map((row) => ({
        n: row.integer('n'),
        request: row.text('request'),
        key: row.text('key'),
        atMs: row.integer('at_ms'),
      }));
    },

    async append({ network, payer, id }, { n, request, key, attempt }) {
      return connection.transaction(() => {
        // A link whose predecessor was purged meanwhile would start a second chain.
        if (n > 1 && !attemptOf(n - 1)) return 'lost';
        const inserted = connection.run(
          `INSERT INTO identifiers (network, payer, id, n, request, key, attempt, at_ms)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          network,
          payer,
          id,
          n,
          request,
          key,
          attempt,
          now(),
        );
        return inserted > 0 || attemptOf(n) === attempt ? 'won' : 'lost';
      });

      function attemptOf(link: number): string | undefined {
        const row = connection.get(
          `SELECT attempt FROM identifiers WHERE network = ? AND payer = ? AND id = ? AND n = ?`,
          network,
          payer,
          id,
          link,
        );
        return row?.text('attempt');
      }
    },
  };
}
