/** What a change did to the row of a listed host. */

/** What counts of runs of characters are kept by. */
export type ListedGroup = {
  readonly category: string;
  /** Whether the owner has ever confirmed, as far as that is still kept. */
  readonly isProved: boolean;
};

export type ListedRow = ListedGroup & {
  readonly id: number;
  readonly host: string;
  readonly grade: string;
};

/** What one change did to the row of a host; null: there is none. */
export type ListedMove = { readonly before: ListedRow | null; readonly after: ListedRow | null };
