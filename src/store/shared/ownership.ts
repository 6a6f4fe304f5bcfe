import {
  CHALLENGE_FETCH_SPACING_MS,
  type ChallengeFinding,
  type Confirm,
  FAILED_CONFIRMS_PER_HOUR,
  type HostAndClient,
  type IssuedToken,
  LIVE_TOKENS_PER_HOST,
  LIVE_TOKENS_PER_HOST_AND_CLIENT,
  type OwnershipStore,
  type SlotOutcome,
} from '../contract/ownership.ts';
import type { Slot, SlotRequest, SlotStore } from '../contract/slots.ts';
import type { StoreContext } from './context.ts';
import { appendOwnerState, findOwner, type OwnerState } from './owners.ts';
import { RETENTION_MS } from './retention.ts';
import { freeAgainAtMs } from './slots.ts';

const tokenGroup = (host: string) => `token ${host}`;
const findingGroup = (host: string) => `challenge_finding ${host}`;
const fetchScope = (host: string) => ['challenge_fetch', host];
const failedScope = ({ host, client }: HostAndClient) => ['failed_confirm', host, client];

/** After this time no caller waits for a fetch's finding. */
const FINDING_LIFETIME_MS = 60_000;

export function ownershipOn(context: StoreContext, slots: SlotStore): OwnershipStore {
  return {
    async issueToken({ host, ...token }) {
      const outcome = await take(slots, {
        scope: ['token', host, token.client],
        limit: LIVE_TOKENS_PER_HOST_AND_CLIENT,
        group: tokenGroup(host),
        data: JSON.stringify(token),
      });
      if (outcome.taken) await releaseSurplus(slots, host);
      return outcome;
    },

    async liveTokens(host) {
      const tokens = await slots.live({ group: tokenGroup(host) });
      return tokens.map((slot) => ({ ...tokenOf(slot), expiresAtMs: slot.expiresAtMs }));
    },

    async failedConfirms(pair) {
      const live = await slots.live(failedScope(pair));
      const isFull = live.length >= FAILED_CONFIRMS_PER_HOUR;
      return { used: live.length, retryAtMs: isFull ? freeAgainAtMs(live) : null };
    },

    async noteFailedConfirm(pair, beganAtMs) {
      const scope = failedScope(pair);
      const data = String(beganAtMs);
      const noted = (await slots.live(scope)).find((slot) => slot.data === data);
      if (noted) return { taken: true, atMs: noted.takenAtMs };
      return take(slots, { scope, limit: FAILED_CONFIRMS_PER_HOUR, data });
    },

    async challengeFetchDueAtMs(host) {
      const live = await slots.live(fetchScope(host));
      return Math.max(0, ...live.map((slot) => slot.expiresAtMs));
    },

    beginChallengeFetch: (host) =>
      take(slots, { scope: fetchScope(host), limit: 1, lifetimeMs: CHALLENGE_FETCH_SPACING_MS }),

    async noteFinding(host, finding) {
      await take(slots, {
        scope: ['challenge_finding', host, String(finding.beganAtMs)],
        limit: 1,
        lifetimeMs: FINDING_LIFETIME_MS,
        group: findingGroup(host),
        data: JSON.stringify(finding),
      });
    },

    async findings(host) {
      const live = await slots.live({ group: findingGroup(host) });
      // `noteFinding` is the only writer of this text.
      return live.map((slot): ChallengeFinding => JSON.parse(slot.data ?? ''));
    },

    async recordConfirm(host, { tokenHash, keyHash, client }) {
      const atMs = await firstConfirmAtMs(slots, host, tokenHash);
      const proof = { tokenHash, keyHash, client };
      const written = await appendOwnerState(context, host, ({ state }) => {
        const last = confirmOf(state);
        const isKnown = last?.tokenHash === tokenHash || (last?.atMs ?? 0) > atMs;
        return isKnown ? null : { confirmedAtMs: atMs, ...proof };
      });
      const { state } = written ?? (await findOwner(context, host));
      return confirmOf(state) ?? { atMs, ...proof };
    },

    async lastConfirm(host) {
      return confirmOf((await findOwner(context, host)).state);
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
  const held = new Map<string, number>();
  for (const { block } of oldestFirst) held.set(block, (held.get(block) ?? 0) + 1);
  const most = Math.max(0, ...held.values());
  return oldestFirst.find(({ block }) => held.get(block) === most) ?? null;
}

/** Frees more than one slot only when several instances issued tokens at once. */
async function releaseSurplus(slots: SlotStore, host: string): Promise<void> {
  let live = (await slots.live({ group: tokenGroup(host) })).map((slot) => ({
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
  const [first] = await slots.live(scope);
  return first?.takenAtMs ?? outcome.retryAtMs - RETENTION_MS.slot;
}

async function take(
  slots: SlotStore,
  request: Pick<SlotRequest, 'scope' | 'limit' | 'group' | 'data'> & Partial<SlotRequest>,
): Promise<SlotOutcome> {
  const outcome = await slots.take({
    lifetimeMs: RETENTION_MS.slot,
    endsWithOwner: false,
    ...request,
  });
  return outcome.taken ? { taken: true, atMs: outcome.slot.takenAtMs } : outcome;
}

function tokenOf({ data }: Slot): IssuedToken {
  // `issueToken` is the only writer of this text.
  return JSON.parse(data ?? '');
}
