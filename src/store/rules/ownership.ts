/** Tokens and failures of domain control, as slots. */
import {
  CHALLENGE_FETCHES_PER_HOUR,
  FAILED_CONFIRMS_PER_HOUR,
  type HostAndClient,
  LIVE_TOKENS_PER_HOST_AND_CLIENT,
  type OwnershipStore,
} from '../contract/ownership.ts';
import type { SlotRequest, SlotStore } from '../contract/slots.ts';
import { RETENTION_MS } from './retention.ts';
import { freeAgainAtMs } from './slots.ts';

type CountedParts = Omit<OwnershipStore, 'recordConfirm' | 'lastConfirm'>;

/** The part of an ownership store that counts; the same on every store. */
export function countedOwnership(slots: SlotStore): CountedParts {
  const take = async (request: Pick<SlotRequest, 'scope' | 'limit' | 'group' | 'data'>) => {
    const outcome = await slots.take({
      ...request,
      lifetimeMs: RETENTION_MS.slot,
      endsWithOwner: false,
    });
    return outcome.taken ? { taken: true as const, atMs: outcome.slot.takenAtMs } : outcome;
  };
  return {
    issueToken: ({ host, client, tokenHash }) =>
      take({
        scope: ['token', host, client],
        limit: LIVE_TOKENS_PER_HOST_AND_CLIENT,
        group: tokenGroup(host),
        data: tokenHash,
      }),

    async liveTokens(host) {
      const tokens = await slots.live({ group: tokenGroup(host) });
      return tokens.map(({ data, scope: [, , client = ''], expiresAtMs }) => ({
        tokenHash: data ?? '',
        client,
        expiresAtMs,
      }));
    },

    async failedConfirms(pair) {
      const live = await slots.live(failedScope(pair));
      const isFull = live.length >= FAILED_CONFIRMS_PER_HOUR;
      return { used: live.length, retryAtMs: isFull ? freeAgainAtMs(live) : null };
    },

    noteFailedConfirm: (pair) =>
      take({ scope: failedScope(pair), limit: FAILED_CONFIRMS_PER_HOUR }),

    takeChallengeFetch: (host) =>
      take({ scope: ['challenge_fetch', host], limit: CHALLENGE_FETCHES_PER_HOUR }),
  };
}

function tokenGroup(host: string): string {
  return `token ${host}`;
}

function failedScope({ host, client }: HostAndClient): readonly string[] {
  return ['failed_confirm', host, client];
}
