/** Proves that a caller controls a host. The proof is that the host serves a token of the caller. */

import type { Origin } from '../../scanner/guard/origin.ts';
import { ConfirmLimit, OwnershipTokenLimit } from '../errors/errors.ts';
import {
  FAILED_CONFIRMS_PER_HOUR,
  LIVE_TOKENS_PER_HOST_AND_CLIENT,
  type LiveToken,
  TOKEN_LIFETIME_MS,
} from '../store/ownership.ts';
import type { Store } from '../store/store.ts';
import type { Client } from '../turns/client-key.ts';
import {
  createSecret,
  hashSecret,
  isSameHash,
  type ReadToken,
  TOKEN_PATH,
  type TokenFinding,
  type UnusableReason,
} from './token-reader.ts';

type ConfirmFailure = 'no_live_token' | 'mismatch' | UnusableReason;

type VerificationOptions = { readonly store: Store; readonly readToken: ReadToken };

export type Verification = ReturnType<typeof createVerification>;

export function createVerification({ store, readToken }: VerificationOptions) {
  const { ownership } = store;

  /** Throws ConfirmLimit after too many failed confirms of the client. `recordFailure` adds a failed confirm. */
  async function readWithinLimits(
    origin: Origin,
    client: Client,
    isFound: (finding: TokenFinding) => boolean,
    failureKey = client.key,
  ) {
    const pair = { host: origin.host, client: failureKey };
    const { retryAtMs } = await ownership.countFailedConfirms(pair);
    if (retryAtMs !== null) {
      const retryAfterSec = toSecondsUntil(retryAtMs, store.now());
      throw new ConfirmLimit(origin.host, FAILED_CONFIRMS_PER_HOUR, retryAfterSec);
    }
    const reading = await readToken(origin, client, isFound);
    const recordFailure = () => ownership.recordFailedConfirm(pair, reading.beganAtMs);
    return { ...reading, recordFailure };
  }

  return {
    /** Issues a token and its listing key. Throws OwnershipTokenLimit. */
    async start({ host, url }: Origin, { key: client, block }: Client) {
      const [token, listingKey] = [createSecret(), createSecret()];
      const [tokenHash, keyHash] = [hashSecret(token), hashSecret(listingKey)];
      const issued = await ownership.issueToken({ host, client, block, tokenHash, keyHash });
      if (!issued.taken) {
        const retryAfterSec = toSecondsUntil(issued.retryAtMs, store.now());
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
     * Checks whether the host serves a live token. A mismatch keeps the token valid. If the caller sends the listing
     * key of a live token, a failure counts for this key and not for the caller's address. Throws ConfirmLimit,
     * ScannerFailed.
     */
    async confirm(origin: Origin, client: Client, listingKey?: string) {
      const { host } = origin;
      const tokens = await ownership.findLiveTokens(host);
      if (tokens.length === 0) return toFailure(host, 'no_live_token');
      const tokenOfKey = tokens.find(({ keyHash }) => isKeyOfHash(listingKey, keyHash));
      const failureKey = tokenOfKey ? `key ${tokenOfKey.keyHash}` : client.key;
      // A caller expects their newest token. A caller without a token accepts any live token.
      const ownToken = tokenOfKey ?? tokens.findLast((issued) => issued.client === client.key);
      const isFound = (finding: TokenFinding) =>
        findServedToken(finding, ownToken ? [ownToken] : tokens) !== null;
      const reading = await readWithinLimits(origin, client, isFound, failureKey);
      const { finding } = reading;
      const token = findServedToken(finding, tokens);
      if (token) {
        await ownership.recordConfirm(host, token);
        return { host, verified: true, instructions: INSTRUCTIONS_AFTER_PROOF };
      }
      await reading.recordFailure();
      if (finding.kind === 'served') return toFailure(host, 'mismatch');
      return toFailure(host, finding.reason, finding.detail);
    },

    /**
     * True if the host serves the token now. Each call counts as a failed confirm of the client, because anybody may
     * call it and it sends a request to the origin. Throws ConfirmLimit, ScannerFailed.
     */
    async stillServes(origin: Origin, client: Client, tokenHash: string): Promise<boolean> {
      // An earlier reading cannot tell if the token is served now, so `isFound` accepts none.
      const { finding, recordFailure } = await readWithinLimits(origin, client, () => false);
      await recordFailure();
      return finding.kind === 'served' && isSameHash(finding.textHash, tokenHash);
    },
  };
}

/** Compares a caller's key, if there is one, with a stored hash. */
export function isKeyOfHash(listingKey: string | undefined, keyHash: string): boolean {
  return listingKey !== undefined && isSameHash(hashSecret(listingKey), keyHash);
}

function findServedToken(finding: TokenFinding, tokens: readonly LiveToken[]): LiveToken | null {
  if (finding.kind !== 'served') return null;
  return tokens.find(({ tokenHash }) => isSameHash(finding.textHash, tokenHash)) ?? null;
}

const INSTRUCTIONS_AFTER_PROOF = `Control is proved. POST /v1/listing works for an hour from the first confirm of this token: from the address that started it, or with its listingKey. Remove the file at ${TOKEN_PATH} when you are done: while it is served, anybody can hide this origin.`;

function toFailure(host: string, reason: ConfirmFailure, detail = '') {
  return { host, verified: false, reason, instructions: toInstructions(reason, detail) };
}

function toInstructions(reason: ConfirmFailure, detail: string): string {
  if (reason === 'no_live_token') {
    return 'No unexpired token was issued for this host. POST /v1/verify/start for a new one.';
  }
  if (reason === 'mismatch') {
    return `${TOKEN_PATH} does not serve one of the unexpired tokens. Serve only the token, without quotes, and confirm again.`;
  }
  return `${TOKEN_PATH} gave ${detail}. Serve the token there over https with status 200, no redirect, at most 512 bytes, and confirm again.`;
}

function toSecondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1_000));
}
