/** Which instances are alive, by their heartbeats. */
import { SILENT_AFTER_MS } from '../contract/instances.ts';
import type { Owner } from '../contract/owner.ts';
import type { MongoContext } from './context.ts';
import type { InstanceDocument } from './documents.ts';

export async function ownerLives(context: MongoContext, { boot }: Owner): Promise<boolean> {
  if (boot === context.owner.boot) return true;
  const instance = await context.instances.byId(boot);
  return instance !== null && instance.beatAtMs > context.now() - SILENT_AFTER_MS;
}

export function liveInstances({
  instances,
  now,
}: MongoContext): Promise<readonly InstanceDocument[]> {
  return instances.all({ beatAtMs: { $gt: now() - SILENT_AFTER_MS } });
}
