import { RETENTION_MS, type StoreContext } from './context.ts';
import {
  findFirstExpiryMs,
  type Lease,
  type LeaseOutcome,
  type LeaseRequest,
  type LeaseStore,
} from './leases.ts';
import { appendOwnerState, findOwnerState, type OwnerState } from './owners.ts';
import { joinId } from './table.ts';

/** A token is valid for this long. After a confirm, the owner may change the listing for this long. */
export const TOKEN_LIFETIME_MS = 3_600_000;
export const LIVE_TOKENS_PER_HOST_AND_CLIENT = 8;
export const LIVE_TOKENS_PER_HOST = 256;
export const FAILED_CONFIRMS_PER_HOUR = 5;
/** Shortest time between the starts of two readings of a host's token file. */
export const READING_SPACING_MS = 10_000;

type HostAndClient = {
  readonly host: string;
  /** Hash of the client's address block. The store gets no addresses. */
  readonly client: string;
};

/** The store keeps hashes of a token and its listing key, never the secrets. */
export type IssuedToken = {
  readonly tokenHash: string;
  /** Hash of the listing key that the client got with the token. */
  readonly keyHash: string;
  readonly client: string;
  /** Hash of the wider address block (/24 or /48) around the client's address. */
  readonly block: string;
};

export type LiveToken = IssuedToken & { readonly expiresAtMs: number };

/** A proof of control by the token of one client. `atMs` is the time at which that token was first found. */
export type Confirm = Pick<IssuedToken, 'tokenHash' | 'keyHash' | 'client'> & {
  readonly atMs: number;
};

/** The result of one reading of a host's token file. All callers and instances may use it. */
type StoredFinding = {
  readonly beganAtMs: number;
  /** JSON of the token reader. */
  readonly finding: string;
};

const tokenGroup = (host: string) => `token ${host}`;
const findingGroup = (host: string) => `challenge_finding ${host}`;
const fetchScope = (host: string) => ['challenge_fetch', host];
const failedConfirmScope = ({ host, client }: HostAndClient) => ['failed_confirm', host, client];

/** No caller waits longer for the finding of a reading. */
const FINDING_LIFETIME_MS = 60_000;

/** Each limit is a set of numbered leases. A request inserts its lease, so racing requests cannot exceed a limit. */
export function createOwnershipStore(context: StoreContext, leases: LeaseStore) {
  return {
    /**
     * Allows at most 8 live tokens per host and client. If a host has over 256 live tokens, the address block with the
     * most tokens loses its oldest token. The first token of another block is therefore never refused.
     */
    async issueToken(request: IssuedToken & { readonly host: string }): Promise<LeaseOutcome> {
      const { host, ...token } = request;
      const outcome = await takeLease(leases, {
        scope: ['token', host, token.client],
        limit: LIVE_TOKENS_PER_HOST_AND_CLIENT,
        group: tokenGroup(host),
        data: JSON.stringify(token),
      });
      if (outcome.taken) await releaseSurplus(leases, host);
      return outcome;
    },

    /** Finds the unexpired tokens of a host for all clients, oldest first. */
    async findLiveTokens(host: string): Promise<readonly LiveToken[]> {
      const tokens = await leases.findLive({ group: tokenGroup(host) });
      return tokens.map((lease) => ({ ...toIssuedToken(lease), expiresAtMs: lease.expiresAtMs }));
    },

    /** Counts the failed confirms in the last hour. `retryAtMs` is null while another failure is allowed. */
    async countFailedConfirms(pair: HostAndClient) {
      const liveLeases = await leases.findLive(failedConfirmScope(pair));
      const isFull = liveLeases.length >= FAILED_CONFIRMS_PER_HOUR;
      return { used: liveLeases.length, retryAtMs: isFull ? findFirstExpiryMs(liveLeases) : null };
    },

    /** Records a failed confirm: at most 5 per host, client and hour, and one per reading. */
    async recordFailedConfirm(pair: HostAndClient, beganAtMs: number): Promise<LeaseOutcome> {
      const scope = failedConfirmScope(pair);
      // Confirms that shared a reading have the same attempt id, so they take one lease together.
      const attempt = joinId(...scope, beganAtMs);
      return takeLease(leases, { scope, limit: FAILED_CONFIRMS_PER_HOUR, attempt });
    },

    /** Returns the time from which the next reading of the host's file may begin. */
    async findReadingDueAtMs(host: string): Promise<number> {
      const liveLeases = await leases.findLive(fetchScope(host));
      return Math.max(0, ...liveLeases.map((lease) => lease.expiresAtMs));
    },

    /** Takes the host's only lease for a reading. It ends 10 s later, for all callers and instances. */
    beginReading: (host: string): Promise<LeaseOutcome> =>
      takeLease(leases, { scope: fetchScope(host), limit: 1, lifetimeMs: READING_SPACING_MS }),

    async saveFinding(host: string, finding: StoredFinding): Promise<void> {
      await takeLease(leases, {
        scope: ['challenge_finding', host, String(finding.beganAtMs)],
        limit: 1,
        lifetimeMs: FINDING_LIFETIME_MS,
        group: findingGroup(host),
        data: JSON.stringify(finding),
      });
    },

    /** Reads the findings of a host that were stored in the last minute, oldest first. */
    async readFindings(host: string): Promise<readonly StoredFinding[]> {
      const liveLeases = await leases.findLive({ group: findingGroup(host) });
      // `saveFinding` is the only writer of this text.
      return liveLeases.map((lease): StoredFinding => JSON.parse(lease.data ?? ''));
    },

    /**
     * Records that this token proved control of the host, and returns the host's last proof. The proof has the time
     * of the token's first confirm, so a repeated confirm extends nothing. A proof never replaces the proof of a token
     * that was first confirmed later.
     */
    async recordConfirm(
      host: string,
      { tokenHash, keyHash, client }: IssuedToken,
    ): Promise<Confirm> {
      const atMs = await recordFirstConfirm(leases, host, tokenHash);
      const proof = { tokenHash, keyHash, client };
      const written = await appendOwnerState(context, host, ({ state }) => {
        const last = toConfirm(state);
        const keepsLastProof = last?.tokenHash === tokenHash || (last?.atMs ?? 0) > atMs;
        return keepsLastProof ? null : { confirmedAtMs: atMs, ...proof };
      });
      const { state } = written ?? (await findOwnerState(context, host));
      return toConfirm(state) ?? { atMs, ...proof };
    },

    async findLastConfirm(host: string): Promise<Confirm | null> {
      return toConfirm((await findOwnerState(context, host)).state);
    },
  };
}

function toConfirm({ confirmedAtMs, tokenHash, keyHash, client }: OwnerState): Confirm | null {
  if (confirmedAtMs === null || tokenHash === null || keyHash === null || client === null) {
    return null;
  }
  return { atMs: confirmedAtMs, tokenHash, keyHash, client };
}

/** Releases the leases of surplus tokens. Several tokens are surplus only if instances raced. */
async function releaseSurplus(leases: LeaseStore, host: string): Promise<void> {
  let liveLeases = await leases.findLive({ group: tokenGroup(host) });
  while (liveLeases.length > LIVE_TOKENS_PER_HOST) {
    const blocks = Map.groupBy(liveLeases, (lease) => toIssuedToken(lease).block);
    // If several blocks have the most tokens, the block with the oldest token comes first.
    const [oldest] = [...blocks.values()].reduce((a, b) => (b.length > a.length ? b : a));
    if (oldest === undefined) return;
    await leases.release(oldest);
    liveLeases = liveLeases.filter((lease) => lease !== oldest);
  }
}

/** Records the first confirm of a token in a lease that lives as long as the token. Returns the confirm's time. */
async function recordFirstConfirm(
  leases: LeaseStore,
  host: string,
  tokenHash: string,
): Promise<number> {
  const scope = ['confirm', host, tokenHash];
  const outcome = await takeLease(leases, { scope, limit: 1 });
  return (outcome.taken ? outcome.lease : outcome.holder).takenAtMs;
}

function takeLease(
  leases: LeaseStore,
  request: Pick<LeaseRequest, 'scope' | 'limit'> & Partial<LeaseRequest>,
): Promise<LeaseOutcome> {
  const { ownershipLease: lifetimeMs } = RETENTION_MS;
  return leases.take({ lifetimeMs, endsWithOwner: false, ...request });
}

function toIssuedToken({ data }: Lease): IssuedToken {
  // `issueToken` is the only writer of this text.
  return JSON.parse(data ?? '');
}
