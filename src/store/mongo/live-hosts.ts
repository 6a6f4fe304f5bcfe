import { SILENT_AFTER_MS } from '../contract/hosts.ts';
import type { Owner } from '../contract/insert-outcome.ts';
import type { MongoContext } from './context.ts';
import type { HostDocument } from './documents.ts';

export async function ownerLives(context: MongoContext, { boot }: Owner): Promise<boolean> {
  if (boot === context.owner.boot) return true;
  const host = await context.hosts.byId(boot);
  return host !== null && host.beatAtMs > context.now() - SILENT_AFTER_MS;
}

export function liveHosts({ hosts, now }: MongoContext): Promise<readonly HostDocument[]> {
  return hosts.all({ beatAtMs: { $gt: now() - SILENT_AFTER_MS } });
}
