import type { Db } from 'mongodb';
import { mongoError } from './error.ts';

const MEASURE_EVERY_MS = 60_000;

export type DatabaseClock = {
  readonly now: () => number;
  stop(): void;
};

/**
 * Tells the database's time without a round trip: this machine's clock, corrected by a measurement each minute.
 * Instances with wrong clocks thus agree on which owner is silent and which row has expired.
 * @throws StoreError `unavailable` where the first measurement fails
 */
export async function startClock(
  database: Db,
  location: string,
  onError: (message: string, error: unknown) => void,
): Promise<DatabaseClock> {
  let offsetMs = await measureOffset(database, location);
  const timer = setInterval(async () => {
    try {
      offsetMs = await measureOffset(database, location);
    } catch (error) {
      onError("the database's time was not measured", error);
    }
  }, MEASURE_EVERY_MS);
  timer.unref();
  return { now: () => Date.now() + offsetMs, stop: () => clearInterval(timer) };
}

async function measureOffset(database: Db, location: string): Promise<number> {
  const sentMs = Date.now();
  try {
    const { localTime } = await database.admin().command({ hello: 1 });
    if (!(localTime instanceof Date)) return 0;
    // The reply was written, as a best guess, half-way. Times are whole milliseconds: their texts have no more, and a
    // reader of changes who names the last one by its text would get it again.
    return Math.round(localTime.getTime() - (sentMs + Date.now()) / 2);
  } catch (cause) {
    throw mongoError(cause, location);
  }
}
