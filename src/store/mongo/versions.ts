/** Versions of what lists are made of on MongoDB. */
import { randomUUID } from 'node:crypto';
import type { DirectoryVersions } from '../contract/directory.ts';
import type { MongoContext } from './context.ts';

const PREFERENCES = 'preferences';

export async function readVersions({
  versions,
  announced,
}: MongoContext): Promise<DirectoryVersions> {
  const [published, preferences] = await Promise.all([
    announced.follow(),
    versions.byId(PREFERENCES),
  ]);
  return { published: String(published), preferences: preferences?.version ?? '' };
}

/**
 * Ends what readers keep under the version before: to be called once a preference, or a proof, is
 * written. Random, so that no two writers make the same version.
 */
export async function bumpPreferences({ versions }: MongoContext): Promise<void> {
  await versions.replace({ _id: PREFERENCES, version: randomUUID() });
}
