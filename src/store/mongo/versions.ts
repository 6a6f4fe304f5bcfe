import { randomUUID } from 'node:crypto';
import type { DirectoryVersions } from '../contract/directory.ts';
import type { MongoContext } from './context.ts';

const PREFERENCES = 'preferences';

export async function readVersions({ versions, feed }: MongoContext): Promise<DirectoryVersions> {
  const [tail, preferences] = await Promise.all([feed.tail(), versions.byId(PREFERENCES)]);
  return { published: String(tail?.n ?? 0), preferences: preferences?.version ?? '' };
}

/**
 * Ends what readers keep under the version before: to be called once a preference, or a proof, is
 * written. Random, so that no two writers make the same version.
 */
export async function bumpPreferences({ versions }: MongoContext): Promise<void> {
  await versions.replace({ _id: PREFERENCES, version: randomUUID() });
}
