/** Proof of domain control: tokens, failures, confirms on MongoDB. */
import { randomUUID } from 'node:crypto';
import type { OwnershipStore, SlotOutcome } from '../contract/ownership.ts';
import { RETENTION_MS } from '../rules/retention.ts';
import { SLOT_LIMITS, type SlotScope, type SlotState, slotState } from '../rules/slots.ts';
import type { MongoContext } from './context.ts';
import { idOf, jitter } from './table.ts';

export function mongoOwnership(context: MongoContext): OwnershipStore {
  const { slots, confirms, now } = context;
  return {
    issueToken({ host, client, tokenHash }) {
      return takeSlot(context, { kind: 'token', host, client }, tokenHash);
    },

    async liveTokens(host) {
      const atMs = { $gt: now() - RETENTION_MS.slot };
      const tokens = await slots.all({ kind: 'token', host, atMs }, { sort: { atMs: 1 } });
      return tokens.map((token) => ({
        tokenHash: token.tokenHash ?? '',
        client: token.client,
        expiresAtMs: token.atMs + RETENTION_MS.slot,
      }));
    },

    async failedConfirms({ host, client }) {
      const scope = { kind: 'failed_confirm', host, client } as const;
      const { used, retryAtMs } = await readSlots(context, scope);
      return { used, retryAtMs };
    },

    noteFailedConfirm({ host, client }) {
      return takeSlot(context, { kind: 'failed_confirm', host, client }, null);
    },

    takeChallengeFetch(host) {
      return takeSlot(context, { kind: 'challenge_fetch', host, client: '' }, null);
    },

    async recordConfirm({ host, tokenHash }) {
      await confirms.replace({ _id: host, atMs: now(), tokenHash });
    },

    async lastConfirm(host) {
      const confirm = await confirms.byId(host);
      return confirm && { atMs: confirm.atMs, tokenHash: confirm.tokenHash };
    },
  };
}

async function readSlots({ slots, now }: MongoContext, scope: SlotScope): Promise<SlotState> {
  const { kind, host, client } = scope;
  const newest = await slots.all(
    { scope: idOf(kind, host, client) },
    { sort: { n: -1 }, limit: SLOT_LIMITS[kind] },
  );
  return slotState(kind, newest, now());
}

async function takeSlot(
  context: MongoContext,
  scope: SlotScope,
  tokenHash: string | null,
): Promise<SlotOutcome> {
  const { kind, host, client } = scope;
  const attempt = randomUUID();
  for (;;) {
    const { next: n, retryAtMs } = await readSlots(context, scope);
    if (retryAtMs !== null) return { taken: false, retryAtMs };
    const atMs = context.now();
    const _id = idOf(kind, host, client, n);
    const row = { _id, scope: idOf(kind, host, client), kind, host, client, n, attempt, atMs };
    if ((await context.slots.decide({ ...row, tokenHash })) === 'won') return { taken: true, atMs };
    await jitter();
  }
}
