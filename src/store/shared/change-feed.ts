import type { Table } from './table.ts';
import type { Row } from './tables.ts';

/** Steps that are walked to the end of the feed; from further behind the end is looked up. */
const WALK_AT_MOST = 100;
/** Hosts whose last change is remembered; beyond it all are forgotten and looked up again. */
const REMEMBER_HOSTS = 10_000;

type HostChange = Pick<Row<'changes'>, 'grade' | 'score'>;

/**
 * The end of the feed as far as this process has followed it: changes are numbered without gaps
 * and never change, so the next number tells all.
 */
export class ChangeFeed {
  readonly #changes: Table<Row<'changes'>>;
  readonly #lastOfHost = new Map<string, HostChange | null>();
  #tail: Row<'changes'> | null = null;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(changes: Table<Row<'changes'>>) {
    this.#changes = changes;
  }

  /** One writer of this process at a time: it would only lose numbers to itself. */
  inTurn<R>(work: () => Promise<R>): Promise<R> {
    const turn = this.#lastTurn.then(work);
    // The next one's turn comes whether or not this one succeeds.
    this.#lastTurn = turn.catch(() => undefined);
    return turn;
  }

  /** The last change, as it was at some moment during this call; null while there is none. */
  async tail(): Promise<Row<'changes'> | null> {
    for (let walked = 0; this.#tail && walked < WALK_AT_MOST; walked += 1) {
      const next = await this.#changes.get(this.#tail.n + 1);
      if (!next) return this.#tail;
      this.#follow(next);
    }
    // Unknown, or far behind: what happened in between is not known of any host.
    this.#lastOfHost.clear();
    this.#tail = await this.#changes.first({}, { order: [['n', 'desc']] });
    return this.#tail;
  }

  /** The last change of a host that readers were told of, up to number `upTo`, or a later one. */
  async lastOf(host: string, upTo: number): Promise<HostChange | null> {
    const known = this.#lastOfHost.get(host);
    if (known !== undefined) return known;
    const told = { host, n: { upTo }, hidden: { not: true } };
    const last = await this.#changes.first(told, { order: [['n', 'desc']] });
    // Only if nothing was followed meanwhile: that would be older than what is known by now.
    if (this.#tail?.n === upTo) this.#remember(host, last);
    return last;
  }

  #follow(next: Row<'changes'>): void {
    // Several callers walk at once, and each step is to be taken by one of them.
    if (next.n !== (this.#tail?.n ?? 0) + 1) return;
    this.#tail = next;
    if (!next.hidden) this.#remember(next.host, next);
  }

  #remember(host: string, change: HostChange | null): void {
    if (this.#lastOfHost.size >= REMEMBER_HOSTS) this.#lastOfHost.clear();
    this.#lastOfHost.set(host, change);
  }
}
