/** A token lives this long, and so does the right to change the listing after a confirm. */
export const TOKEN_LIFETIME_MS = 3_600_000;
export const LIVE_TOKENS_PER_HOST_AND_CLIENT = 8;
export const FAILED_CONFIRMS_PER_HOUR = 5;
export const CHALLENGE_FETCHES_PER_HOUR = 60;

/** `client` is a key that the caller derives (a hash of the address block), never an address. */
export type HostAndClient = {
  readonly host: string;
  readonly client: string;
};

export type LiveToken = {
  /** Hash of the token; the token itself is never stored. */
  readonly tokenHash: string;
  readonly client: string;
  readonly expiresAtMs: number;
};

/** `retryAtMs` says when the next one is free. */
export type SlotOutcome =
  | { readonly taken: true; readonly atMs: number }
  | { readonly taken: false; readonly retryAtMs: number };

/**
 * Proof of domain control. The limits count by numbered slots, one insert each, so that racing
 * requests and hosts together never exceed them.
 */
export type OwnershipStore = {
  /** At most 8 live tokens per host and client; an earlier one is never invalidated. */
  issueToken(token: HostAndClient & { readonly tokenHash: string }): Promise<SlotOutcome>;

  /** Unexpired tokens of the host, of all clients. */
  liveTokens(host: string): Promise<readonly LiveToken[]>;

  /** Whether host and client are out of failed confirms; takes nothing. */
  failedConfirms(pair: HostAndClient): Promise<{
    readonly used: number;
    /** When the next is free; null while there is room. */
    readonly retryAtMs: number | null;
  }>;

  /** Counts one failed confirm: at most 5 per host, client and hour. */
  noteFailedConfirm(pair: HostAndClient): Promise<SlotOutcome>;

  /** Asks for one fetch of the challenge: at most 60 per host and hour, whoever asks. */
  takeChallengeFetch(host: string): Promise<SlotOutcome>;

  /** The host is owner-verified from now on; the hash of the token that proved it is kept. */
  recordConfirm(confirm: { readonly host: string; readonly tokenHash: string }): Promise<void>;

  /** The last confirm, or null if the host was never verified. */
  lastConfirm(host: string): Promise<{ readonly atMs: number; readonly tokenHash: string } | null>;
};
