import { ChallengeLimit, ConfirmLimit } from '../errors/errors.ts';
import type { Origin } from '../origin/origin.ts';
import type { HostAndClient, SlotOutcome } from '../store/contract/ownership.ts';
import { TOKEN_LIFETIME_MS } from '../store/contract/ownership.ts';
import type { Store } from '../store/contract/store.ts';
import {
  CHALLENGE_PATH,
  type FetchChallenge,
  type ServedChallenge,
  type UnusableReason,
} from './challenge-fetch.ts';
import { TurnTaking } from './turn-taking.ts';
import { findTokenHash, hashToken, newToken } from './verification-token.ts';

export type IssuedChallenge = {
  readonly host: string;
  readonly token: string;
  readonly wellKnownPath: typeof CHALLENGE_PATH;
  readonly instructions: string;
  readonly expiresInSec: number;
};

export type ConfirmFailure = 'no_live_token' | 'mismatch' | UnusableReason;

export type Confirmation =
  | { readonly host: string; readonly verified: true; readonly instructions: string }
  | {
      readonly host: string;
      readonly verified: false;
      readonly reason: ConfirmFailure;
      readonly instructions: string;
    };

/** Proof of domain control: who can serve a token under a host's name is its owner. */
export type Verification = {
  /** Throws ChallengeLimit. */
  start(origin: Origin, client: string): Promise<IssuedChallenge>;
  /** Throws ConfirmLimit, OriginRefused, ScannerFailed. A mismatch leaves the token alive. */
  confirm(origin: Origin, client: string): Promise<Confirmation>;
  /**
   * Whether the token of the last confirm is still being served. Counts as a failed confirm of this
   * client whatever it finds, or a stranger could use up the fetches that the owner needs.
   */
  stillServes(origin: Origin, client: string, tokenHash: string): Promise<boolean>;
};

export function createVerification(store: Store, fetchChallenge: FetchChallenge): Verification {
  const { ownership } = store;
  // Without it, one client could have more fetches in flight than it has failures left.
  const turns = new TurnTaking();

  async function fetchWithinLimits(origin: Origin): Promise<ServedChallenge> {
    const slot = await ownership.takeChallengeFetch(origin.host);
    if (!slot.taken) throw tooMany(origin, 'challenge fetches', slot.retryAtMs, store.now());
    return fetchChallenge(origin);
  }

  async function refuseOrNote(origin: Origin, pair: HostAndClient): Promise<void> {
    const slot: SlotOutcome = await ownership.noteFailedConfirm(pair);
    if (!slot.taken) throw tooMany(origin, 'failed confirms', slot.retryAtMs, store.now());
  }

  async function confirm(origin: Origin, pair: HostAndClient): Promise<Confirmation> {
    const { host } = origin;
    const tokens = await ownership.liveTokens(host);
    if (tokens.length === 0) return notVerified(host, 'no_live_token');
    const { retryAtMs } = await ownership.failedConfirms(pair);
    if (retryAtMs !== null) throw tooMany(origin, 'failed confirms', retryAtMs, store.now());

    const served = await fetchWithinLimits(origin);
    const hashes = tokens.map(({ tokenHash }) => tokenHash);
    const tokenHash = served.kind === 'served' ? findTokenHash(served.text, hashes) : null;
    if (tokenHash === null) {
      await refuseOrNote(origin, pair);
      if (served.kind === 'served') return notVerified(host, 'mismatch');
      return notVerified(host, served.reason, served.detail);
    }
    await ownership.recordConfirm({ host, tokenHash });
    return { host, verified: true, instructions: WHEN_DONE };
  }

  return {
    async start({ host, url }, client) {
      const token = newToken();
      const slot = await ownership.issueToken({ host, client, tokenHash: hashToken(token) });
      if (!slot.taken) throw new ChallengeLimit(host, secondsUntil(slot.retryAtMs, store.now()));
      return {
        host,
        token,
        wellKnownPath: CHALLENGE_PATH,
        instructions: `Serve the token alone, as plain text, at ${url}${CHALLENGE_PATH} (status 200, no redirect, at most 512 bytes). Then POST /v1/verify/confirm with the same url. The token is valid for an hour.`,
        expiresInSec: TOKEN_LIFETIME_MS / 1_000,
      };
    },
    confirm(origin, client) {
      const pair = { host: origin.host, client };
      return turns.run(`${pair.host} ${client}`, () => confirm(origin, pair));
    },
    stillServes(origin, client, tokenHash) {
      const pair = { host: origin.host, client };
      return turns.run(`${pair.host} ${client}`, async () => {
        await refuseOrNote(origin, pair);
        const served = await fetchWithinLimits(origin);
        return served.kind === 'served' && findTokenHash(served.text, [tokenHash]) !== null;
      });
    },
  };
}

const WHEN_DONE = `Control is proved. POST /v1/listing works for an hour from now. Remove the file at ${CHALLENGE_PATH} when you are done: while it is served, anybody can hide this origin.`;

function notVerified(host: string, reason: ConfirmFailure, detail = ''): Confirmation {
  return { host, verified: false, reason, instructions: whatToDo(reason, detail) };
}

function whatToDo(reason: ConfirmFailure, detail: string): string {
  const path = CHALLENGE_PATH;
  if (reason === 'no_live_token') {
    return 'No unexpired token was issued for this host. POST /v1/verify/start for a new one.';
  }
  if (reason === 'mismatch') {
    return `What ${path} serves is none of the unexpired tokens. Serve the token alone, without quotes, and confirm again.`;
  }
  return `${path} gave ${detail}. Serve the token there over https with status 200, no redirect, at most 512 bytes, and confirm again.`;
}

function tooMany({ host }: Origin, what: string, retryAtMs: number, nowMs: number): ConfirmLimit {
  return new ConfirmLimit(
    `Too many ${what} for ${host} within an hour. Check the file, and wait as Retry-After says.`,
    secondsUntil(retryAtMs, nowMs),
  );
}

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1_000));
}
