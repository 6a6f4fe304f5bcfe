/** Asks sources in their order, the next one once the one before did not help or keeps us waiting. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Lookup } from '../model/observations.ts';

export type Turn<T> = () => Promise<Lookup<T>>;

/** How long a source is waited for before the next is asked beside it. */
const HEAD_START_MS = 750;

/**
 * The lookups up to the first that is enough, in order, or all of them. None of `turns` may reject;
 * with limits of their own that began together, all of it takes no longer than one.
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
