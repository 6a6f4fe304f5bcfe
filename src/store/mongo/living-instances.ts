import { SILENT_AFTER_MS } from '../contract/instances.ts';
import type { Owner } from '../contract/owner.ts';
import type { Instance, MongoContext } from './own-tables.ts';

export async function ownerLives(context: MongoContext, { boot }: Owner): Promise<boolean> {
  if (boot === context.owner.boot) return true;
  const instance = await context.instances.get(boot);
  return instance !== null && instance.beatAtMs > silentSinceMs(context);
}

export function liveInstances(context: MongoContext): Promise<readonly Instance[]> {
  return context.instances.all({ beatAtMs: { after: silentSinceMs(context) } });
}

function silentSinceMs({ now, timeScale }: MongoContext): number {
  return now() - SILENT_AFTER_MS * timeScale;
}

/**
 * Distinguishes living instances from recently crashed ones: a living instance writes another heartbeat
 * during the wait, so a join is refused without waiting until the crashed ones count as silent.
 */
export class ConflictingInstances {
  readonly #firstBeats = new Map<string, number>();

  /** A joined instance that has beaten since it was first seen, or null. */
  look(instances: readonly Instance[]): Instance | null {
    for (const { boot, beatAtMs } of instances) {
      if (!this.#firstBeats.has(boot)) this.#firstBeats.set(boot, beatAtMs);
    }
    const living = instances.find(
      ({ boot, joined, beatAtMs }) => joined && beatAtMs > (this.#firstBeats.get(boot) ?? beatAtMs),
    );
    return living ?? null;
  }
}
