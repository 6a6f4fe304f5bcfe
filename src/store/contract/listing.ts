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

export type HeldListing = {
  /** Defaults: listed, not suppressed. */
  readonly settings: ListingSettings;
  /** Maps each setting that was set with a listing key to the hash of that key's token. */
  readonly keyed: Readonly<Partial<Record<keyof ListingSettings, string>>>;
  /** Changes whenever a setting or a proof of the host is written; 0 when none ever was. */
  readonly version: number;
};

/** Preferences of verified owners, in rows of their own that no publication touches. */
export type ListingStore = {
  get(host: string): Promise<HeldListing>;

  /**
   * Sets the given members, and returns all settings as they are afterwards.
   * @param keyedBy hash of the token whose listing key the caller showed, if he showed one
   */
  set(host: string, change: ListingChange, keyedBy?: string | null): Promise<ListingSettings>;

  /** Does the same as `set` without a key. Returns null and sets nothing when the version has changed. */
  setIf(host: string, version: number, change: ListingChange): Promise<ListingSettings | null>;
};
