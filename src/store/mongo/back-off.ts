import { setTimeout as delay } from 'node:timers/promises';

const LONGEST_MS = 40;

/** A random wait before the next number is tried after a lost one; it keeps racers apart. */
export async function backOff(): Promise<void> {
  await delay(Math.random() * LONGEST_MS);
}
