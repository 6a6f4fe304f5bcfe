import { setTimeout as delay } from 'node:timers/promises';
import {
  type Collection,
  type Filter,
  type FindOptions,
  type MatchKeysAndValues,
  MongoNetworkError,
  MongoServerError,
  type OptionalUnlessRequiredId,
  type WithId,
} from 'mongodb';
import type { InsertOutcome } from '../contract/insert-outcome.ts';
import { StoreError } from '../contract/store-error.ts';
import { isDuplicate, mongoError } from './error.ts';

/** How long a decision is sought for after a lost reply or an uncommitted conflicting row. */
const DECIDE_WITHIN_MS = 5_000;
const RETRY_DELAY_MS = 50;

export type Document = {
  readonly _id: string;
};

/** What every table shares: where errors happened, and whether the store is still open. */
export type CollectedHome = {
  readonly location: string;
  readonly isClosed: () => boolean;
};

/** One collection; everything it throws is a `StoreError`. */
export class Collected<T extends Document> {
  readonly #collection: Collection<T>;
  readonly #home: CollectedHome;

  constructor(collection: Collection<T>, home: CollectedHome) {
    this.#collection = collection;
    this.#home = home;
  }

  /**
   * Inserts a contended row and finds out who won. A reply that got lost, or a conflicting row that no majority
   * has yet, is asked about again: the own attempt id in the store means that this caller won.
   * @param conflicting rows under other ids that the insert can collide with (further unique indexes)
   */
  async decide(row: T, conflicting: readonly Filter<T>[]): Promise<InsertOutcome> {
    const deadlineMs = performance.now() + DECIDE_WITHIN_MS;
    for (;;) {
      try {
        await this.#guard(() => this.#collection.insertOne(asInsert<T>(row)));
        return 'won';
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        const outcome = isDuplicate(error.cause) ? await this.#readBack(row, conflicting) : null;
        if (outcome) return outcome;
        if (!mayDecideLater(error) || performance.now() > deadlineMs) throw error;
        await delay(RETRY_DELAY_MS);
      }
    }
  }

  /** False where the key is taken. */
  async insert(row: T): Promise<boolean> {
    try {
      await this.#guard(() => this.#collection.insertOne(asInsert<T>(row)));
      return true;
    } catch (error) {
      if (error instanceof StoreError && isDuplicate(error.cause)) return false;
      throw error;
    }
  }

  byId(id: T['_id']): Promise<WithId<T> | null> {
    return this.first(idFilter(id));
  }

  first(filter: Filter<T>, options: FindOptions = {}): Promise<WithId<T> | null> {
    return this.#guard(() => this.#collection.findOne(filter, options));
  }

  all(filter: Filter<T>, options: FindOptions = {}): Promise<WithId<T>[]> {
    return this.#guard(() => this.#collection.find(filter, options).toArray());
  }

  /** In arrays of at most `size`, read as they are consumed. */
  async *batches(
    filter: Filter<T>,
    options: FindOptions,
    size: number,
  ): AsyncGenerator<readonly WithId<T>[]> {
    const cursor = this.#collection.find(filter, { ...options, batchSize: size });
    try {
      for (;;) {
        const batch: WithId<T>[] = [];
        while (batch.length < size) {
          const row = await this.#guard(() => cursor.next());
          if (!row) break;
          batch.push(row);
        }
        if (batch.length > 0) yield batch;
        if (batch.length < size) return;
      }
    } finally {
      // A consumer that stops early, or a lost server: nothing more can be done about the cursor.
      await cursor.close().catch(() => undefined);
    }
  }

  count(filter: Filter<T>): Promise<number> {
    return this.#guard(() => this.#collection.countDocuments(filter));
  }

  /** Writes a whole row, whether or not there was one. */
  async replace(row: T): Promise<void> {
    await this.#guard(async () => {
      // Two first writers can both find nothing to replace; the second try then finds the row.
      for (let attempt = 0; ; attempt += 1) {
        try {
          const { _id, ...members } = row;
          // `replaceOne` wants the row without its key, which the filter gives back to it.
          const replacement = members as unknown as Parameters<Collection<T>['replaceOne']>[1];
          await this.#collection.replaceOne(idFilter<T>(_id), replacement, { upsert: true });
          return;
        } catch (error) {
          if (attempt > 0 || !isDuplicate(error)) throw error;
        }
      }
    });
  }

  /** Sets members of the one row that fits, if there is one. */
  async set(filter: Filter<T>, members: Partial<T>): Promise<void> {
    // Every `Partial<T>` is a valid `$set`; the driver's mapped type cannot see it for a generic T.
    const $set = members as unknown as MatchKeysAndValues<T>;
    await this.#guard(() => this.#collection.updateOne(filter, { $set }));
  }

  /** How many were removed. */
  remove(filter: Filter<T>): Promise<number> {
    return this.#guard(async () => (await this.#collection.deleteMany(filter)).deletedCount);
  }

  /** The same, `size` rows at a time, so that others are served in between. */
  async removeInBatches(filter: Filter<T>, size: number): Promise<number> {
    let removed = 0;
    for await (const rows of this.batches(filter, { projection: { _id: 1 } }, size)) {
      const ids = rows.map((row) => row._id);
      // The filter again: what was written since the batch was read stays.
      removed += await this.remove({ $and: [{ _id: { $in: ids } }, filter] } as Filter<T>);
    }
    return removed;
  }

  /** For what the methods above do not cover; errors are translated all the same. */
  use<R>(work: (collection: Collection<T>) => Promise<R>): Promise<R> {
    return this.#guard(() => work(this.#collection));
  }

  async #readBack(row: T, conflicting: readonly Filter<T>[]): Promise<InsertOutcome | null> {
    let held = await this.byId(row._id);
    for (const filter of conflicting) held ??= await this.first(filter);
    // Nothing: the conflicting row is not with a majority yet, and may still vanish.
    if (!held) return null;
    return attemptOf(held) === attemptOf(row) ? 'won' : 'lost';
  }

  async #guard<R>(work: () => Promise<R>): Promise<R> {
    const { location, isClosed } = this.#home;
    if (isClosed()) {
      throw new StoreError('unavailable', `the store ${location} is closed; open it again`);
    }
    try {
      return await work();
    } catch (cause) {
      throw mongoError(cause, location);
    }
  }
}

function idFilter<T extends Document>(id: T['_id']): Filter<T> {
  // `_id` is T's own key type; the driver's conditional type cannot see it for a generic T.
  return { _id: id } as unknown as Filter<T>;
}

/** Every table row has its `_id`, which is what the driver's conditional type asks for. */
function asInsert<T extends Document>(row: T): OptionalUnlessRequiredId<T> {
  return row as unknown as OptionalUnlessRequiredId<T>;
}

/** Whether asking again may find out: the connection broke, or the server changed its primary. */
function mayDecideLater({ cause }: StoreError): boolean {
  if (cause instanceof MongoNetworkError || isDuplicate(cause)) return true;
  return cause instanceof MongoServerError && cause.hasErrorLabel('RetryableWriteError');
}

/** Rows that are raced for have a random attempt; one whose id is its attempt is its own. */
function attemptOf(row: Document): unknown {
  return 'attempt' in row ? row.attempt : row._id;
}
