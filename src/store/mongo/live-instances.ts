/** Which instances are alive, by their heartbeats. */
import { SILENT_AFTER_MS } from '../contract/instances.ts';
import type { Owner } from '../contract/owner.ts';
import type { MongoContext } from './context.ts';
import type { InstanceDocument } from './documents.ts';

export async function ownerLives(context: MongoContext, { boot }: Owner): Promise<boolean> {
  if (boot === context.owner.boot) return true;
  const instance = await context.instances.byId(boot);
  return instance !== null && instance.beatAtMs > silentSinceMs(context);
}

export function liveInstances(context: MongoContext): Promise<readonly InstanceDocument[]> {
  return context.instances.all({ beatAtMs: { $gt: silentSinceMs(context) } });
}

function silentSinceMs({ now, timeScale }: MongoContext): number {
  return now() - SILENT_AFTER_MS * timeScale;
}
