/** Counts of matches that the database was asked for, in memory until anything listed changes. */
import type { Filter } from 'mongodb';
import { BoundedMap } from '../../memory/bounded-map.ts';
import type { DirectoryQuery, DirectoryVersions } from '../contract/directory.ts';
import type { MongoContext } from './context.ts';
import type { RecordDocument } from './documents.ts';
import { firstExpiryMs } from './owner-preferences.ts';
import { readVersions } from './versions.ts';

const MAX_COUNTS = 1_000;

/** The state of the directory before anything that a count is made of was read. */
type State = { readonly versions: DirectoryVersions; readonly nowMs: number };

type KeptCount = State & {
  readonly count: number;
  /** When the first proof of those that were counted is too old. */
  readonly untilMs: number;
};

/** The pages of one search share its count: to find all matches is most of what a page costs. */
export class KeptCounts {
  readonly #context: MongoContext;
  readonly #kept = new BoundedMap<string, KeptCount>(MAX_COUNTS);

  constructor(context: MongoContext) {
    this.#context = context;
  }

  async state(): Promise<State> {
    const nowMs = this.#context.now();
    return { nowMs, versions: await readVersions(this.#context) };
  }

  /** @param filter made of what was read after `state` */
  async count(
    { category, verified = false, q = '' }: DirectoryQuery,
    filter: Filter<RecordDocument>,
    state: State,
  ): Promise<number> {
    const name = JSON.stringify([category ?? null, verified, q.toLowerCase()]);
    const kept = this.#kept.get(name);
    if (kept !== undefined && isStillSo(kept, state)) return kept.count;
    const untilMs = verified
      ? await firstExpiryMs(this.#context, state.nowMs)
      : Number.POSITIVE_INFINITY;
    const count = await this.#context.records.count(filter);
    this.#kept.set(name, { ...state, count, untilMs });
    return count;
  }
}

function isStillSo(kept: KeptCount, { versions, nowMs }: State): boolean {
  const { published, preferences } = kept.versions;
  const isSame = published === versions.published && preferences === versions.preferences;
  return isSame && nowMs >= kept.nowMs && nowMs < kept.untilMs;
}
