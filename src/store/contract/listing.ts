/** What verified owners set for their hosts. */
export type ListingSettings = {
  readonly listed: boolean;
  readonly enrichmentSuppressed: boolean;
};

/** What verified owners asked for; rows of their own that no publication touches. */
export type ListingStore = {
  /** Defaults: listed, not suppressed. */
  get(host: string): Promise<ListingSettings>;

  /** Sets what is given and leaves the other as it is; answers what holds then. */
  set(
    host: string,
    settings: {
      readonly listed?: boolean | undefined;
      readonly enrichmentSuppressed?: boolean | undefined;
    },
  ): Promise<ListingSettings>;
};
