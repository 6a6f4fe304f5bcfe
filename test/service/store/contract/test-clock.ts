import type { ContractSubject } from './subject.ts';

/** A clock that begins at a fixed time, and that only the test moves. */
export class TestClock {
  #nowMs = Date.UTC(2026, 8, 1, 12);

  readonly now = (): number => this.#nowMs;

  advance(ms: number): number {
    this.#nowMs += ms;
    return this.#nowMs;
  }
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Opens an empty store with a clock of its own. */
export async function freshWithClock(subject: ContractSubject) {
  const clock = new TestClock();
  const store = await subject.fresh({ clock: clock.now });
  return { ...store, store, clock };
}
