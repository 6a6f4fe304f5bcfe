import { setTimeout as delay } from 'node:timers/promises';
import type { Lookup } from '../model/observations.ts';

export type Turn<T> = () => Promise<Lookup<T>>;

/** Milliseconds to wait for a source before the next is asked in parallel. */
const HEAD_START_MS = 750;

/**
 * Asks sources in order, the next one after a useless answer or a delay. Returns the lookups up to the
 * first sufficient one, or all. `turns` must not reject. If all sources share one deadline, the whole
 * lookup ends with it.
 */
export async function hedgedLookup<T>(
  turns: readonly Turn<T>[],
  isEnough: (lookup: Lookup<T>) => boolean,
  headStartMs = HEAD_START_MS,
): Promise<readonly Lookup<T>[]> {
  const [turn, ...later] = turns;
  if (turn === undefined) return [];
  const lookup = turn();
  const soon = await Promise.race([lookup, delay(headStartMs, null, { ref: false })]);
  if (soon !== null && isEnough(soon)) return [soon];
  const others = hedgedLookup(later, isEnough, headStartMs);
  const own = await lookup;
  return isEnough(own) ? [own] : [own, ...(await others)];
}
