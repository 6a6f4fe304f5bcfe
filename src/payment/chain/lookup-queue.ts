/** Two lines for looks at payments in doubt, so that an outage ends without a herd. */

export type LookupLine = 'waiting' | 'background';

/** Of each line: calls that wait are not held up by thousands of keys without a waiting call. */
const PLACES = 2;

export class LookupQueue {
  readonly #lines: Readonly<Record<LookupLine, Line>> = {
    waiting: { free: PLACES, next: [] },
    background: { free: PLACES, next: [] },
  };

  /** Runs the work when it is its turn; those who came first are first. */
  async run<T>(line: LookupLine, work: () => Promise<T>): Promise<T> {
    const { [line]: mine } = this.#lines;
    if (mine.free > 0) mine.free -= 1;
    else await new Promise<void>((resolve) => mine.next.push(resolve));
    try {
      return await work();
    } finally {
      const follower = mine.next.shift();
      if (follower === undefined) mine.free += 1;
      else follower();
    }
  }
}

type Line = {
  free: number;
  readonly next: (() => void)[];
};
