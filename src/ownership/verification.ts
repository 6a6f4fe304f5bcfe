/** Verification of owners: whoever can serve a token under a host's name controls it. */
import type { Origin } from '../guard/origin.ts';
import type { Client } from '../limits/client-key.ts';
import { ConfirmLimit, OwnershipTokenLimit } from '../model/errors.ts';
import {
  FAILED_CONFIRMS_PER_HOUR,
  LIVE_TOKENS_PER_HOST_AND_CLIENT,
  type LiveToken,
  TOKEN_LIFETIME_MS,
} from '../store/ownership.ts';
import type { Store } from '../store/store.ts';
import {
  hashSecret,
  isSameHash,
  newSecret,
  TOKEN_PATH,
  type UnusableReason,
} from './ownership-token.ts';
import type { ReadToken, TokenFinding } from './token-reader.ts';

export type ConfirmFailure = 'no_live_token' | 'mismatch' | UnusableReason;

export type VerificationOptions = { readonly store: Store; readonly readToken: ReadToken };

export type Verification = ReturnType<typeof createVerification>;

export function createVerification({ store, readToken }: VerificationOptions) {
  const { ownership } = store;

  /** Reads the file for a client that has failures left; `note` counts this one. */
  async function readWithinLimits(
    origin: Origin,
    client: Client,
    isFound: (finding: TokenFinding) => boolean,
    countedAs = client.key,
  ) {
    const pair = { host: origin.host, client: countedAs };
    const { retryAtMs } = await ownership.countFailedConfirms(pair);
    if (retryAtMs !== null) throw tooManyFailures(origin, secondsUntil(retryAtMs, store.now()));
    const reading = await readToken(origin, client, isFound);
    const note = () => ownership.recordFailedConfirm(pair, reading.beganAtMs);
    return { ...reading, note };
  }

  return {
    /** Throws OwnershipTokenLimit. */
    async start({ host, url }: Origin, { key: client, block }: Client) {
      const [token, listingKey] = [newSecret(), newSecret()];
      const [tokenHash, keyHash] = [hashSecret(token), hashSecret(listingKey)];
      const slot = await ownership.issueToken({ host, client, block, tokenHash, keyHash });
      if (!slot.taken) {
        const retryAfterSec = secondsUntil(slot.retryAtMs, store.now());
        throw new OwnershipTokenLimit(host, LIVE_TOKENS_PER_HOST_AND_CLIENT, retryAfterSec);
      }
      return {
        host,
        token,
        // Authorises listing changes from any address once the token is confirmed.
        listingKey,
        wellKnownPath: TOKEN_PATH,
        instructions: `Serve only the token, as plain text, at ${url}${TOKEN_PATH} (status 200, no redirect, at most 512 bytes). Then POST /v1/verify/confirm with the same url. The token is valid for an hour, and public once it is served. Keep listingKey secret: whoever sends it to POST /v1/listing acts as you, from any address.`,
        expiresInSec: TOKEN_LIFETIME_MS / 1_000,
      };
    },

    /**
     * A mismatch keeps the token valid. Failures of callers with the listing key of a live token do not count
     * against their address. Throws ConfirmLimit, ScannerFailed.
     */
    async confirm(origin: Origin, client: Client, listingKey?: string) {
      const { host } = origin;
      const tokens = await ownership.findLiveTokens(host);
      if (tokens.length === 0) return notVerified(host, 'no_live_token');
      const keyed = tokens.find(({ keyHash }) => isKey(listingKey, keyHash));
      const countedAs = keyed ? `key ${keyed.keyHash}` : client.key;
      // An older token of theirs may be replaced by now; a caller without one asks for any.
      const own = keyed ?? tokens.findLast((one) => one.client === client.key);
      const isFound = (finding: TokenFinding) =>
        servedToken(finding, own ? [own] : tokens) !== null;
      const { finding, note } = await readWithinLimits(origin, client, isFound, countedAs);
      const token = servedToken(finding, tokens);
      if (token) {
        await ownership.recordConfirm(host, token);
        return { host, verified: true, instructions: WHEN_DONE };
      }
      await note();
      if (finding.kind === 'served') return notVerified(host, 'mismatch');
      return notVerified(host, finding.reason, finding.detail);
    },

    /**
     * True while the token is served. Every call counts as a failed confirm of the client, because anybody may
     * call it and each call sends a request to the origin. Throws ConfirmLimit, ScannerFailed.
     */
    async stillServes(origin: Origin, client: Client, tokenHash: string): Promise<boolean> {
      // An earlier reading does not tell whether the token is served now.
      const { finding, note } = await readWithinLimits(origin, client, () => false);
      await note();
      return finding.kind === 'served' && isSameHash(finding.textHash, tokenHash);
    },
  };
}

/** Compares a caller's key, if there is one, with a stored hash. */
export function isKey(listingKey: string | undefined, keyHash: string): boolean {
  return listingKey !== undefined && isSameHash(hashSecret(listingKey), keyHash);
}

function servedToken(finding: TokenFinding, tokens: readonly LiveToken[]): LiveToken | null {
  if (finding.kind !== 'served') return null;
  return tokens.find(({ tokenHash }) => isSameHash(finding.textHash, tokenHash)) ?? null;
}

const WHEN_DONE = `Control is proved. POST /v1/listing works for an hour from the first confirm of this token: from the address that started it, or with its listingKey. Remove the file at ${TOKEN_PATH} when you are done: while it is served, anybody can hide this origin.`;

function notVerified(host: string, reason: ConfirmFailure, detail = '') {
  return { host, verified: false, reason, instructions: whatToDo(reason, detail) };
}

function whatToDo(reason: ConfirmFailure, detail: string): string {
  const path = TOKEN_PATH;
  if (reason === 'no_live_token') {
    return 'No unexpired token was issued for this host. POST /v1/verify/start for a new one.';
  }
  if (reason === 'mismatch') {
    return `${path} does not serve one of the unexpired tokens. Serve only the token, without quotes, and confirm again.`;
  }
  return `${path} gave ${detail}. Serve the token there over https with status 200, no redirect, at most 512 bytes, and confirm again.`;
}

function tooManyFailures({ host }: Origin, retryAfterSec: number): ConfirmLimit {
  return new ConfirmLimit(
    `Too many failed confirms for ${host} within an hour. Check the file, and wait as Retry-After says. Or confirm with the listingKey of your token: its failures are counted apart.`,
    FAILED_CONFIRMS_PER_HOUR,
    retryAfterSec,
  );
}

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1_000));
}
