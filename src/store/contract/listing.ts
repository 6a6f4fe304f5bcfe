/** Preferences of a verified owner for a host. */
export type ListingSettings = {
  readonly listed: boolean;
  readonly enrichmentSuppressed: boolean;
};

/** Settings to change; one that is left out stays as it is. */
export type ListingChange = {
  readonly listed?: boolean | undefined;
  readonly enrichmentSuppressed?: boolean | undefined;
};

/** Preferences of verified owners, in rows of their own that no publication touches. */
export type ListingStore = {
  /** Defaults: listed, not suppressed. */
  get(host: string): Promise<ListingSettings>;

  /**
   * For each setting that was set with a listing key: the hash of the token whose key it was. The
   * others are left out.
   */
  keyed(host: string): Promise<Readonly<Partial<Record<keyof ListingSettings, string>>>>;

  /**
   * Sets what is given; answers what holds then.
   * @param keyedBy hash of the token whose listing key the caller showed, if he showed one
   */
  set(host: string, change: ListingChange, keyedBy?: string | null): Promise<ListingSettings>;

  /** Another number with whatever is set or proved of the host; 0: nothing ever was. */
  version(host: string): Promise<number>;

  /** As `set`, without a key; null, and nothing is set, where the version is another one by now. */
  setIf(host: string, version: number, change: ListingChange): Promise<ListingSettings | null>;
};
