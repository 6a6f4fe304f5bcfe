/** Asks sources in their order, the next one once the one before did not help or keeps us waiting. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Look } from '../model/observations.ts';

export type Turn<T> = () => Promise<Look<T>>;

/** How long a source is waited for before the next is asked beside it. */
const HEAD_START_MS = 750;

/**
 * The looks up to the first that is enough, in order, or all of them. None of `turns` may reject;
 * with limits of their own that began together, all of it takes no longer than one.
 */
export async function lookInTurn<T>(
  turns: readonly Turn<T>[],
  isEnough: (look: Look<T>) => boolean,
  headStartMs = HEAD_START_MS,
): Promise<readonly Look<T>[]> {
  const [turn, ...later] = turns;
  if (turn === undefined) return [];
  const look = turn();
  const soon = await Promise.race([look, delay(headStartMs, null, { ref: false })]);
  if (soon !== null && isEnough(soon)) return [soon];
  const others = lookInTurn(later, isEnough, headStartMs);
  const own = await look;
  return isEnough(own) ? [own] : [own, ...(await others)];
}
