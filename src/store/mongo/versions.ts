/** Versions of what lists are made of on MongoDB. */
import { randomUUID } from 'node:crypto';
import type { DirectoryVersions } from '../contract/directory.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { MongoContext } from './context.ts';

const PREFERENCES = 'preferences';

/** @param feed not the publishers' own: those take turns with it */
export async function readVersions(
  { versions }: MongoContext,
  feed: ChangeFeed,
): Promise<DirectoryVersions> {
  const [tail, preferences] = await Promise.all([feed.tail(), versions.byId(PREFERENCES)]);
  return { published: String(tail?.n ?? 0), preferences: preferences?.version ?? '' };
}

/**
 * To be called once a preference, or a proof, is written: whoever reads the version before then may
 * keep what he reads under it until here, and no longer. Random, so no two writers agree on one.
 */
export async function bumpPreferences({ versions }: MongoContext): Promise<void> {
  await versions.replace({ _id: PREFERENCES, version: randomUUID() });
}
