import type { SlotOutcome as TakenSlot } from './slots.ts';

/** A token lives this long, and so does the right to change the listing after a confirm. */
export const TOKEN_LIFETIME_MS = 3_600_000;
export const LIVE_TOKENS_PER_HOST_AND_CLIENT = 8;
export const LIVE_TOKENS_PER_HOST = 256;
export const FAILED_CONFIRMS_PER_HOUR = 5;
/** Fetches of one host's challenge file are at least this far apart. */
export const CHALLENGE_FETCH_SPACING_MS = 10_000;
/** A proof expires after this long, because domains are sold. */
export const VERIFIED_FOR_MS = 365 * 24 * 3_600_000;

/** Returns the time at which a confirm expires; null when it has expired at `nowMs`. */
export function verifiedUntilMs(confirmedAtMs: number | null, nowMs: number): number | null {
  const untilMs = confirmedAtMs === null ? 0 : confirmedAtMs + VERIFIED_FOR_MS;
  return untilMs > nowMs ? untilMs : null;
}

/** Returns the time after which a confirm must have been made to be valid at `nowMs`. */
export function verifiedSinceMs(nowMs: number): number {
  return nowMs - VERIFIED_FOR_MS;
}

/** `client` is a key that the caller derives (a hash of the address block), never an address. */
export type HostAndClient = {
  readonly host: string;
  readonly client: string;
};

/** A token as it is stored: only its hashes, and the client that asked for it. */
export type IssuedToken = {
  readonly tokenHash: string;
  /** Hash of the listing key that was answered beside the token. */
  readonly keyHash: string;
  readonly client: string;
  /** Key of the wider block that the client's address is in. */
  readonly block: string;
};

export type LiveToken = IssuedToken & { readonly expiresAtMs: number };

/** A proof of control: its client, and when the token that proved it was found first. */
export type Confirm = Pick<IssuedToken, 'tokenHash' | 'keyHash' | 'client'> & {
  readonly atMs: number;
};

/** The finding of one instance at the challenge path, for the others that wait for it. */
export type ChallengeFinding = {
  readonly beganAtMs: number;
  /** Free-form. */
  readonly finding: string;
};

/** `retryAtMs` says when the next one is free. */
export type SlotOutcome =
  | { readonly taken: true; readonly atMs: number }
  | Extract<TakenSlot, { readonly taken: false }>;

/** Each limit is a set of numbered slots, and a request takes one by an insert, so racing requests never exceed it. */
export type OwnershipStore = {
  /**
   * Allows at most 8 live tokens per host and client. A host with over 256 loses the oldest token of the
   * address block that holds most, so a block's first token is never refused.
   */
  issueToken(token: IssuedToken & { readonly host: string }): Promise<SlotOutcome>;

  /** Unexpired tokens of the host, of all clients, oldest first. */
  liveTokens(host: string): Promise<readonly LiveToken[]>;

  /** Counts failed confirms of host and client in the last hour; takes no slot. */
  failedConfirms(pair: HostAndClient): Promise<{
    readonly used: number;
    /** Time at which the next is allowed; null while there is room. */
    readonly retryAtMs: number | null;
  }>;

  /** Counts one failed confirm: at most 5 per host, client and hour, and one per fetch. */
  noteFailedConfirm(pair: HostAndClient, beganAtMs: number): Promise<SlotOutcome>;

  /** Returns the time from which the next fetch of the host's challenge may begin; takes no slot. */
  challengeFetchDueAtMs(host: string): Promise<number>;

  /** Begins a fetch of the challenge: at least 10 s after the one before, over all callers. */
  beginChallengeFetch(host: string): Promise<SlotOutcome>;

  /** Tells other instances what a fetch found. */
  noteFinding(host: string, finding: ChallengeFinding): Promise<void>;

  /** Findings of fetches that began in the last minute, oldest first. */
  findings(host: string): Promise<readonly ChallengeFinding[]>;

  /**
   * The host is owner-verified by this token. `atMs` is that of the first confirm of the token: to
   * repeat it prolongs nothing, and it never replaces the confirm of a token that was found later.
   */
  recordConfirm(host: string, token: IssuedToken): Promise<Confirm>;

  /** The last confirm, or null if the host was never verified. */
  lastConfirm(host: string): Promise<Confirm | null>;
};
