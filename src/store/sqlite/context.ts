/** What every part of the embedded store is given. */
import type { Owner } from '../contract/owner.ts';
import type { CommonRuns } from './common-runs.ts';
import type { Connection } from './connection.ts';
import type { KeptVersions } from './kept-versions.ts';
import type { PageEnds } from './page-ends.ts';
import type { RecordRows } from './record-rows.ts';
import type { SearchEffort } from './search-effort.ts';
import type { SubstringCounts } from './substring-counts.ts';

/** What each part of the embedded store works with. */
export type SqliteContext = {
  readonly connection: Connection;
  readonly owner: Owner;
  readonly search: SearchEffort;
  readonly substringCounts: SubstringCounts;
  readonly commonRuns: CommonRuns;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly recordRows: RecordRows;
  readonly versions: KeptVersions;
  readonly pageEnds: PageEnds;
};
