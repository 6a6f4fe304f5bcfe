import type { Grade } from '../../model/report.ts';

export type ChangeType = 'new' | 'grade_changed' | 'rescanned';

export type DirectoryChange = {
  /** 1, 2, 3 … without gaps; never sent out. */
  readonly n: number;
  /** The scan whose publication made it; unique, so a publication that is redone adds none. */
  readonly scanId: string;
  readonly changeType: ChangeType;
  /** Database time, ms; strictly increasing with `n`. */
  readonly changedAtMs: number;
  readonly host: string;
  /** The grade of the host's current record after this change. */
  readonly grade: Grade;
  readonly score: number;
  readonly checksVersion: string;
  /** Set with `grade_changed`: the grade that this feed gave the host before. */
  readonly previousGrade?: Grade | undefined;
  readonly previousScore?: number | undefined;
};

/**
 * Publications, in order. Number n+1 is inserted after n was read, so a reader who has seen
 * n+1 has seen n, and paging by `changedAtMs` loses and repeats nothing. Kept for good.
 */
export type ChangeStore = {
  /**
   * Changes after `sinceMs` (exclusive), oldest first, at most `limit`; those of hosts that are
   * opted out now are left out.
   */
  list(query: { readonly sinceMs: number; readonly limit: number }): Promise<{
    readonly changes: readonly DirectoryChange[];
    readonly hasMore: boolean;
  }>;

  /** Returns at most `limit` changes, newest first; those of hosts that are opted out now are left out of them. */
  newest(limit: number): Promise<readonly DirectoryChange[]>;
};
