/** The database's time, for instances whose own clocks differ. */
import type { Db } from 'mongodb';
import { mongoError } from './error.ts';

const MEASURE_EVERY_MS = 60_000;

/**
 * The database's time without a round trip: this machine's, corrected by what the last measurement
 * found. Hosts whose own clocks are wrong thus agree on who is silent and what has expired.
 */
export class DatabaseClock {
  readonly #database: Db;
  readonly #location: string;
  readonly #given: (() => number) | undefined;
  readonly #onError: (message: string, error: unknown) => void;
  #offsetMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param given a clock that is taken as it is, and nothing is measured */
  constructor(
    database: Db,
    location: string,
    given: (() => number) | undefined,
    onError: (message: string, error: unknown) => void,
  ) {
    this.#database = database;
    this.#location = location;
    this.#given = given;
    this.#onError = onError;
  }

  readonly now = (): number => this.#given?.() ?? Date.now() + this.#offsetMs;

  /** Measures once, and then each minute. */
  async start(): Promise<void> {
    if (this.#given) return;
    await this.#measure();
    this.#timer = setInterval(() => {
      this.#measure().catch((error: unknown) => {
        this.#onError("the database's time was not measured", error);
      });
    }, MEASURE_EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #measure(): Promise<void> {
    const sentMs = Date.now();
    try {
      const { localTime } = await this.#database.admin().command({ hello: 1 });
      const receivedMs = Date.now();
      if (!(localTime instanceof Date)) return;
      // The reply was written, as a best guess, half-way.
      this.#offsetMs = Math.round(localTime.getTime() - (sentMs + receivedMs) / 2);
    } catch (cause) {
      throw mongoError(cause, this.#location);
    }
  }
}
