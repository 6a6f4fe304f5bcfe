/** What every part of the shared store is given. */
import type { Owner } from '../contract/owner.ts';
import type { AnnouncedHosts } from './announced-hosts.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { Tables } from './tables.ts';

/** What each part of the shared store works with. */
export type MongoContext = Tables & {
  readonly feed: ChangeFeed;
  readonly announced: AnnouncedHosts;
  readonly owner: Owner;
  /** 1, but in tests: of the times at which instances beat, and at which they count as gone. */
  readonly timeScale: number;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};
