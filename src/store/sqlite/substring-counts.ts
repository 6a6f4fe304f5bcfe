/** Counts of long substrings that too many hosts may have to be counted for each reader. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { ListedMove, ListedRow } from './listed-move.ts';
import type { CountFilter } from './run-counts.ts';
import type { SearchEffort } from './search-effort.ts';

/** Each is followed through every publication, which costs some 50 ns a piece. */
const MAX_KEPT = 1_000;

export type SubstringFilter = CountFilter & { readonly q: string };

type Kept = SubstringFilter & {
  /** Of the hosts whose id is at most `upToId`: those after it are yet to be counted. */
  count: number;
  upToId: number;
  readonly whole: Promise<number>;
};

/**
 * Counted once, in slices, and from then on kept right by every change of a listed host: this
 * process is the only writer of its file. The least recently asked for goes first.
 */
export class SubstringCounts {
  readonly #kept = new Map<string, Kept>();
  readonly #connection: Connection;
  readonly #slice: number;

  constructor(connection: Connection, { slice }: SearchEffort) {
    this.#connection = connection;
    this.#slice = slice;
  }

  /** How many listed hosts there are now. */
  async count(filter: SubstringFilter): Promise<number> {
    const name = JSON.stringify([filter.q, filter.category ?? null, filter.proved]);
    const kept = this.#kept.get(name) ?? this.#begin(filter);
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const oldest = this.#kept.size <= MAX_KEPT ? undefined : this.#kept.keys().next().value;
    if (oldest !== undefined) this.#kept.delete(oldest);
    try {
      await kept.whole;
    } catch (error) {
      this.#kept.delete(name);
      throw error;
    }
    return kept.count;
  }

  /** To be told of every change, once it is committed. */
  follow({ before, after }: ListedMove): void {
    for (const kept of this.#kept.values()) {
      if (before && counts(kept, before)) kept.count -= 1;
      if (after && counts(kept, after)) kept.count += 1;
    }
  }

  #begin(filter: SubstringFilter): Kept {
    let begin = () => {};
    const started = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const kept: Kept = {
      ...filter,
      count: 0,
      upToId: 0,
      whole: started.then(() => this.#countAll(kept)),
    };
    begin();
    return kept;
  }

  async #countAll(kept: Kept): Promise<number> {
    for (;;) {
      const end = this.#connection.get(
        'SELECT id FROM listed WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?',
        kept.upToId,
        this.#slice - 1,
      );
      const untilId = end?.integer('id') ?? Number.MAX_SAFE_INTEGER;
      const row = this.#connection.get(
        `SELECT count(*) AS count FROM listed NOT INDEXED
         WHERE id > ?1 AND id <= ?2 AND instr(host, ?3) > 0
           AND (?4 IS NULL OR category = ?4) AND (?5 = 0 OR confirmed_at_ms IS NOT NULL)`,
        kept.upToId,
        untilId,
        kept.q,
        kept.category ?? null,
        kept.proved ? 1 : 0,
      );
      kept.count += row?.integer('count') ?? 0;
      kept.upToId = untilId;
      if (end === null) return kept.count;
      await nextTurn();
    }
  }
}

function counts({ q, category, proved, upToId }: Kept, row: ListedRow): boolean {
  if (row.id > upToId || (proved && !row.isProved)) return false;
  return (category === undefined || row.category === category) && row.host.includes(q);
}
