import type { DirectoryVersions } from '../contract/directory.ts';
import type { SqliteContext } from './context.ts';

export function readVersions({ connection }: SqliteContext): DirectoryVersions {
  const published = connection.get('SELECT n FROM changes ORDER BY n DESC LIMIT 1');
  const preferences = connection.get("SELECT n FROM versions WHERE name = 'preferences'");
  return {
    published: String(published?.integer('n') ?? 0),
    preferences: String(preferences?.integer('n') ?? 0),
  };
}

/** To be called in the transaction that writes a preference, or a proof. */
export function bumpPreferences({ connection }: SqliteContext): void {
  connection.run(
    `INSERT INTO versions (name, n) VALUES ('preferences', 1)
     ON CONFLICT DO UPDATE SET n = versions.n + 1`,
  );
}
