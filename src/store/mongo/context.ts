import type { Owner } from '../contract/owner.ts';
import type { OwnCollections } from './collections.ts';

/** What the parts of the shared store work with that are not over tables. */
export type MongoContext = OwnCollections & {
  readonly owner: Owner;
  /** 1, but in tests: of the times at which instances beat, and at which they count as gone. */
  readonly timeScale: number;
  /** Database time, ms since the epoch. */
  readonly now: () => number;
};
