import { RETENTION_MS, type StoreContext } from './context.ts';
import { appendOwnerState, findOwnerState, type OwnerState } from './owners.ts';
import { findFirstExpiryMs, type Slot, type SlotRequest, type SlotStore } from './slots.ts';
import { joinId } from './table.ts';

/** A token lives this long, and so does the right to change the listing after a confirm. */
export const TOKEN_LIFETIME_MS = 3_600_000;
export const LIVE_TOKENS_PER_HOST_AND_CLIENT = 8;
export const LIVE_TOKENS_PER_HOST = 256;
export const FAILED_CONFIRMS_PER_HOUR = 5;
/** Readings of one host's file with the ownership token begin at least this far apart. */
export const READING_SPACING_MS = 10_000;

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

/** The finding of one reading of the file, for all callers and instances. */
export type StoredFinding = {
  readonly beganAtMs: number;
  /** Free-form. */
  readonly finding: string;
};

/** `retryAtMs` says when the next one is free. */
type LimitOutcome =
  | { readonly taken: true; readonly atMs: number }
  | { readonly taken: false; readonly retryAtMs: number };

const tokenGroup = (host: string) => `token ${host}`;
const findingGroup = (host: string) => `challenge_finding ${host}`;
const fetchScope = (host: string) => ['challenge_fetch', host];
const failedScope = ({ host, client }: HostAndClient) => ['failed_confirm', host, client];

/** After this time no caller waits for a fetch's finding. */
const FINDING_LIFETIME_MS = 60_000;

/** Each limit is a set of numbered slots, and a request takes one by an insert, so racing requests never exceed it. */
export function ownershipOn(context: StoreContext, slots: SlotStore) {
  return {
    /**
     * Allows at most 8 live tokens per host and client. A host with over 256 loses the oldest token of the
     * address block that holds most, so a block's first token is never refused.
     */
    async issueToken(request: IssuedToken & { readonly host: string }): Promise<LimitOutcome> {
      const { host, ...token } = request;
      const outcome = await take(slots, {
        scope: ['token', host, token.client],
        limit: LIVE_TOKENS_PER_HOST_AND_CLIENT,
        group: tokenGroup(host),
        data: JSON.stringify(token),
      });
      if (outcome.taken) await releaseSurplus(slots, host);
      return outcome;
    },

    /** Unexpired tokens of the host, of all clients, oldest first. */
    async findLiveTokens(host: string): Promise<readonly LiveToken[]> {
      const tokens = await slots.findLive({ group: tokenGroup(host) });
      return tokens.map((slot) => ({ ...tokenOf(slot), expiresAtMs: slot.expiresAtMs }));
    },

    /** Counts failed confirms of host and client in the last hour; takes no slot. `retryAtMs` is null while there is room. */
    async countFailedConfirms(pair: HostAndClient) {
      const live = await slots.findLive(failedScope(pair));
      const isFull = live.length >= FAILED_CONFIRMS_PER_HOUR;
      return { used: live.length, retryAtMs: isFull ? findFirstExpiryMs(live) : null };
    },

    /** Counts one failed confirm: at most 5 per host, client and hour, and one per fetch. */
    async recordFailedConfirm(pair: HostAndClient, beganAtMs: number): Promise<LimitOutcome> {
      const scope = failedScope(pair);
      // Callers that shared a fetch make the same attempt, and get the same slot.
      const attempt = joinId(...scope, beganAtMs);
      return take(slots, { scope, limit: FAILED_CONFIRMS_PER_HOUR, attempt });
    },

    /** Returns the time from which the next reading of the host's file may begin; takes no slot. */
    async findReadingDueAtMs(host: string): Promise<number> {
      const live = await slots.findLive(fetchScope(host));
      return Math.max(0, ...live.map((slot) => slot.expiresAtMs));
    },

    /** Begins a reading of the file: at least 10 s after the one before, over all callers. */
    beginReading: (host: string): Promise<LimitOutcome> =>
      take(slots, { scope: fetchScope(host), limit: 1, lifetimeMs: READING_SPACING_MS }),

    /** Tells other instances what a fetch found. */
    async saveFinding(host: string, finding: StoredFinding): Promise<void> {
      await take(slots, {
        scope: ['challenge_finding', host, String(finding.beganAtMs)],
        limit: 1,
        lifetimeMs: FINDING_LIFETIME_MS,
        group: findingGroup(host),
        data: JSON.stringify(finding),
      });
    },

    /** Findings of fetches that began in the last minute, oldest first. */
    async readFindings(host: string): Promise<readonly StoredFinding[]> {
      const live = await slots.findLive({ group: findingGroup(host) });
      // `saveFinding` is the only writer of this text.
      return live.map((slot): StoredFinding => JSON.parse(slot.data ?? ''));
    },

    /**
     * The host is owner-verified by this token. `atMs` is that of the first confirm of the token: to
     * repeat it prolongs nothing, and it never replaces the confirm of a token that was found later.
     */
    async recordConfirm(
      host: string,
      { tokenHash, keyHash, client }: IssuedToken,
    ): Promise<Confirm> {
      const atMs = await firstConfirmAtMs(slots, host, tokenHash);
      const proof = { tokenHash, keyHash, client };
      const written = await appendOwnerState(context, host, ({ state }) => {
        const last = confirmOf(state);
        const isKnown = last?.tokenHash === tokenHash || (last?.atMs ?? 0) > atMs;
        return isKnown ? null : { confirmedAtMs: atMs, ...proof };
      });
      const { state } = written ?? (await findOwnerState(context, host));
      return confirmOf(state) ?? { atMs, ...proof };
    },

    /** The last confirm, or null if the host was never verified. */
    async findLastConfirm(host: string): Promise<Confirm | null> {
      return confirmOf((await findOwnerState(context, host)).state);
    },
  };
}

function confirmOf({ confirmedAtMs, tokenHash, keyHash, client }: OwnerState): Confirm | null {
  if (confirmedAtMs === null || tokenHash === null || keyHash === null || client === null) {
    return null;
  }
  return { atMs: confirmedAtMs, tokenHash, keyHash, client };
}

/** Selects the token to drop when there are too many: the oldest of the address block that has most. */
function surplusToken<T extends { readonly block: string }>(oldestFirst: readonly T[]): T | null {
  const tokens = new Map<string, number>();
  for (const { block } of oldestFirst) tokens.set(block, (tokens.get(block) ?? 0) + 1);
  const most = Math.max(0, ...tokens.values());
  return oldestFirst.find(({ block }) => tokens.get(block) === most) ?? null;
}

/** Frees more than one slot only when several instances issued tokens at once. */
async function releaseSurplus(slots: SlotStore, host: string): Promise<void> {
  let live = (await slots.findLive({ group: tokenGroup(host) })).map((slot) => ({
    slot,
    block: tokenOf(slot).block,
  }));
  while (live.length > LIVE_TOKENS_PER_HOST) {
    const surplus = surplusToken(live);
    if (surplus === null) return;
    await slots.release(surplus.slot);
    live = live.filter((one) => one !== surplus);
  }
}

/** The slot of a token's first confirm lives as long as the token can. */
async function firstConfirmAtMs(
  slots: SlotStore,
  host: string,
  tokenHash: string,
): Promise<number> {
  const scope = ['confirm', host, tokenHash];
  const outcome = await take(slots, { scope, limit: 1 });
  if (outcome.taken) return outcome.atMs;
  const [first] = await slots.findLive(scope);
  return first?.takenAtMs ?? outcome.retryAtMs - RETENTION_MS.slot;
}

async function take(
  slots: SlotStore,
  request: Pick<SlotRequest, 'scope' | 'limit' | 'group' | 'data'> & Partial<SlotRequest>,
): Promise<LimitOutcome> {
  const outcome = await slots.take({
    lifetimeMs: RETENTION_MS.slot,
    endsWithOwner: false,
    ...request,
  });
  if (!outcome.taken) return { taken: false, retryAtMs: outcome.retryAtMs };
  return { taken: true, atMs: outcome.slot.takenAtMs };
}

function tokenOf({ data }: Slot): IssuedToken {
  // `issueToken` is the only writer of this text.
  return JSON.parse(data ?? '');
}
