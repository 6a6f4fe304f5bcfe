/** What a change did to the row of a listed host. */

export type ListedRow = {
  readonly id: number;
  readonly host: string;
  readonly grade: string;
  readonly category: string;
  /** Whether the owner has ever confirmed, as far as that is still kept. */
  readonly isProved: boolean;
};

/** What one change did to the row of a host; null: there is none. */
export type ListedMove = { readonly before: ListedRow | null; readonly after: ListedRow | null };
