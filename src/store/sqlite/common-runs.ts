/** Runs of characters that many hosts have: the runs that are one longer are counted, too. */
import { NGRAM_LENGTH } from '../shared/host-ngrams.ts';
import type { Connection } from './connection.ts';

/** The longest run that is counted; a host of 253 characters has some 7,000 up to here. */
export const LONGEST_COUNTED = 32;

/**
 * A run of four characters and more is counted where both runs that are one shorter are common. So
 * a text is either counted itself, or holds a counted run that few hosts have. Runs are never uncommon
 * again: that would only save room.
 */
export class CommonRuns {
  readonly #connection: Connection;
  /** Read with the first publication; searches look up the few that they need. */
  #known: Set<string> | null = null;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  has(run: string): boolean {
    if (this.#known !== null) return this.#known.has(run);
    return this.#connection.get('SELECT 1 FROM common_runs WHERE run = ?', run) !== null;
  }

  /** All of them in memory from here on: who writes a host asks for some hundred runs. */
  load(): void {
    if (this.#known !== null) return;
    const rows = this.#connection.all('SELECT run FROM common_runs');
    this.#known = new Set(rows.map((row) => row.text('run')));
  }

  add(run: string): void {
    this.#connection.run('INSERT OR IGNORE INTO common_runs (run) VALUES (?)', run);
    this.#known?.add(run);
  }

  /** After a transaction that was rolled back: what it added is in memory alone. */
  forget(): void {
    this.#known = null;
  }
}

/** All distinct counted runs of a host that are longer than its n-grams. */
export function longerRunsOf(host: string, isCommon: (run: string) => boolean): readonly string[] {
  const runs = new Set<string>();
  let starts = startsOf(host, NGRAM_LENGTH).filter((at) =>
    isCommon(host.slice(at, at + NGRAM_LENGTH)),
  );
  for (let length = NGRAM_LENGTH + 1; length <= LONGEST_COUNTED; length += 1) {
    const counted = starts.filter((at, index) => starts[index + 1] === at + 1);
    for (const at of counted) runs.add(host.slice(at, at + length));
    starts = counted.filter((at) => isCommon(host.slice(at, at + length)));
    if (starts.length < 2) break;
  }
  return [...runs];
}

function startsOf(text: string, length: number): number[] {
  return Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at) => at);
}
