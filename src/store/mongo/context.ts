import type { Owner } from '../contract/owner.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { Tables } from './tables.ts';

/** What each part of the shared store works with. */
export type MongoContext = Tables & {
  readonly feed: ChangeFeed;
  readonly owner: Owner;
  /** 1, but in tests: of the times at which instances beat, and at which they count as gone. */
  readonly timeScale: number;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};
