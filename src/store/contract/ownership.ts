import type { SlotOutcome as TakenSlot } from './slots.ts';

/** A token lives this long, and so does the right to change the listing after a confirm. */
export const TOKEN_LIFETIME_MS = 3_600_000;
export const LIVE_TOKENS_PER_HOST_AND_CLIENT = 8;
export const LIVE_TOKENS_PER_HOST = 256;
export const FAILED_CONFIRMS_PER_HOUR = 5;
/** Between two fetches of one host's challenge file. */
export const CHALLENGE_FETCH_SPACING_MS = 10_000;
/** Domains are sold: beyond this the proof has to be given anew. */
export const VERIFIED_FOR_MS = 365 * 24 * 3_600_000;

/** The end of a confirm; null where it has ended at `nowMs`. */
export function verifiedUntilMs(confirmedAtMs: number | null, nowMs: number): number | null {
  const untilMs = confirmedAtMs === null ? 0 : confirmedAtMs + VERIFIED_FOR_MS;
  return untilMs > nowMs ? untilMs : null;
}

/** Confirms after this instant count at `nowMs`. */
export function verifiedSinceMs(nowMs: number): number {
  return nowMs - VERIFIED_FOR_MS;
}

/** `client` is a key that the caller derives (a hash of the address block), never an address. */
export type HostAndClient = {
  readonly host: string;
  readonly client: string;
};

/** A token as it is stored: hashes alone, and who asked for it. */
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

/** The limits count by numbered slots, one insert each, so that racing requests never exceed them. */
export type OwnershipStore = {
  /**
   * At most 8 live tokens per host and client. Beyond 256 of a host the oldest of the block that
   * holds most goes, so a block's first token is never refused.
   */
  issueToken(token: IssuedToken & { readonly host: string }): Promise<SlotOutcome>;

  /** Unexpired tokens of the host, of all clients, oldest first. */
  liveTokens(host: string): Promise<readonly LiveToken[]>;

  /** Failed confirms of host and client in the last hour; takes nothing. */
  failedConfirms(pair: HostAndClient): Promise<{
    readonly used: number;
    /** Time at which the next is allowed; null while there is room. */
    readonly retryAtMs: number | null;
  }>;

  /** Counts one failed confirm: at most 5 per host, client and hour, and one per fetch. */
  noteFailedConfirm(pair: HostAndClient, beganAtMs: number): Promise<SlotOutcome>;

  /** Time from which the next fetch of the host's challenge may begin; takes nothing. */
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
