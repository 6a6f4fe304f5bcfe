/** How many hosts there are by category and grade, as the feed of changes has announced them. */
import { fromStoredJson } from '../shared/stored-json.ts';
import { changeId } from './change-feed.ts';
import type { ChangeDocument } from './documents.ts';
import { HostCounts, type HostGroup } from './host-counts.ts';
import type { Tables } from './tables.ts';

/** Changes that are read together where this process is behind. */
const BATCH = 2_000;
/** Changes after which the counts are kept: some more than so many a new process has to follow. */
const KEEP_EVERY = 500;
const HOSTS_AT_ONCE = 100;

type Announced = Pick<ChangeDocument, 'n' | 'host' | 'changeType'> &
  Pick<ChangeDocument, 'grade' | 'category' | 'previousGrade' | 'previousCategory'>;

const PROJECTION: Readonly<Record<keyof Announced, 1>> = {
  n: 1,
  host: 1,
  changeType: 1,
  grade: 1,
  category: 1,
  previousGrade: 1,
  previousCategory: 1,
};

/**
 * Changes are numbered without gaps and never change, and each says what the feed said of its host
 * before: every instance that adds them up has the same counts at the same number. So nothing is counted by
 * update, no instance can be ahead of another, and what is kept in the database is a mere head start.
 */
export class AnnouncedHosts {
  readonly #tables: Pick<Tables, 'changes' | 'counts'>;
  readonly #counts = new HostCounts();
  /** What the feed says of hosts that were ever seen opted out; null: nothing. */
  readonly #hidden = new Map<string, HostGroup | null>();
  #n = 0;
  #hasBegun = false;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<number> | null = null;
  #learning: Promise<unknown> = Promise.resolve();
  #keptAt = 0;

  constructor(tables: Pick<Tables, 'changes' | 'counts'>) {
    this.#tables = tables;
  }

  /** The number of the last change, as it was at some moment during this call. */
  follow(): Promise<number> {
    return this.#inTurn();
  }

  /** Of all hosts but these, at some moment during this call. */
  async countWithout(optedOut: readonly string[]): Promise<HostCounts> {
    await this.#inTurn();
    await this.#learnInTurn(optedOut);
    const counts = this.#counts.copy();
    for (const host of optedOut) {
      const group = this.#hidden.get(host);
      if (group) counts.add(group, -1);
    }
    return counts;
  }

  /** Callers share the turn that has not begun; one that has may have seen the end already. */
  #inTurn(): Promise<number> {
    if (this.#next) return this.#next;
    const next = this.#running.then(() => {
      this.#next = null;
      return this.#catchUp();
    });
    this.#next = next;
    // The next turn comes whether or not this one succeeds.
    this.#running = next.catch(() => undefined);
    return next;
  }

  async #catchUp(): Promise<number> {
    if (!this.#hasBegun) await this.#begin();
    // Mostly there is none, and the look-up by key is the cheapest question.
    const next = await this.#tables.changes.byId(changeId(this.#n + 1));
    if (next === null) return this.#n;
    this.#add(next);
    for (;;) {
      const rows = await this.#tables.changes.all(
        { n: { $gt: this.#n } },
        { sort: { n: 1 }, limit: BATCH, projection: PROJECTION },
      );
      for (const row of rows) this.#add(row);
      if (this.#n - this.#keptAt >= KEEP_EVERY) await this.#keep();
      if (rows.length < BATCH) return this.#n;
    }
  }

  async #begin(): Promise<void> {
    const kept = await this.#tables.counts.first({}, { sort: { n: -1 } });
    if (kept !== null) {
      this.#counts.read(fromStoredJson(kept.counts));
      this.#n = kept.n;
      this.#keptAt = kept.n;
    }
    this.#hasBegun = true;
  }

  #add({ n, host, changeType, grade, category, previousGrade, previousCategory }: Announced): void {
    this.#n = n;
    const group = { grade, category };
    if (changeType !== 'new' && previousCategory !== null) {
      this.#counts.add({ grade: previousGrade ?? grade, category: previousCategory }, -1);
    }
    this.#counts.add(group, 1);
    if (this.#hidden.has(host)) this.#hidden.set(host, group);
  }

  /** Another instance may have kept the very same. */
  async #keep(): Promise<void> {
    const counts = JSON.stringify(this.#counts);
    this.#keptAt = this.#n;
    await this.#tables.counts.insert({ _id: changeId(this.#n), n: this.#n, counts });
  }

  /** What the feed says of each of these up to the number that was followed to. */
  #learnInTurn(hosts: readonly string[]): Promise<void> {
    const learnt = this.#learning.then(() => this.#learn(hosts));
    this.#learning = learnt.catch(() => undefined);
    return learnt;
  }

  async #learn(hosts: readonly string[]): Promise<void> {
    const unknown = hosts.filter((host) => !this.#hidden.has(host));
    for (let at = 0; at < unknown.length; at += HOSTS_AT_ONCE) {
      const some = unknown.slice(at, at + HOSTS_AT_ONCE);
      // From here on their changes are followed, so none is missed while the older ones are read.
      for (const host of some) this.#hidden.set(host, null);
      try {
        const upToNow = { host: { $in: some }, n: { $lte: this.#n } };
        const options = { sort: { n: 1 }, projection: PROJECTION } as const;
        const last = new Map((await this.#tables.changes.all(upToNow, options)).map(hostAndGroup));
        for (const [host, group] of last)
          if (!this.#hidden.get(host)) this.#hidden.set(host, group);
      } catch (error) {
        for (const host of some) this.#hidden.delete(host);
        throw error;
      }
    }
  }
}

function hostAndGroup({ host, grade, category }: Announced): [string, HostGroup] {
  return [host, { grade, category }];
}
