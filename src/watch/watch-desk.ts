import { randomBytes } from 'node:crypto';
import type { Client } from '../directory/client-key.ts';
import { feedUrl } from '../directory/host-feed.ts';
import { requireOwner } from '../directory/listing.ts';
import { hashSecret, isSameHash, newSecret } from '../directory/verification-token.ts';
import { OriginRefused } from '../guard/errors.ts';
import { type Origin, type OriginPolicy, toOrigin, validateUrl } from '../guard/origin.ts';
import { type Resolver, resolveHost, systemResolver } from '../guard/resolve.ts';
import type { Store } from '../store/contract/store.ts';
import { changeWatch, endWatch, findWatch, ifSame } from './change-watch.ts';
import { addEvents } from './events.ts';
import { freePlaces, takePlaces } from './places.ts';
import { toDay } from './plan.ts';
import { type DeliveryStatus, SHOWN_DELIVERIES, toPhase, type WatchState } from './state.ts';
import { toWatchTiming, type WatchTiming } from './timing.ts';
import { NotAgreed, NotYourWatch } from './watch-errors.ts';

export type WatchWish = { readonly webhook: string; readonly listingKey?: string | undefined };

export type NewWatch = {
  readonly host: string;
  /** Shown only in the answer that creates the watch. */
  readonly secret: string;
  readonly endsAt: string;
  readonly feedUrl: string;
};

export type WatchStatus = {
  readonly host: string;
  readonly state: 'pending' | 'active' | 'ended';
  readonly endsAt: string;
  /** Null where no look is planned. */
  readonly nextLookAt: string | null;
  /** The newest 20, newest first. */
  readonly deliveries: readonly {
    readonly id: string;
    readonly type: string;
    readonly at: string;
    readonly tries: number;
    readonly status: DeliveryStatus;
  }[];
};

/** The operations of owners on their watches. Every method but `create` throws NotYourWatch. */
export type WatchDesk = {
  /** Throws NotVerified, NotYourProof, OriginRefused, TooManyWatches. */
  create(origin: Origin, client: Client, wish: WatchWish): Promise<NewWatch>;
  status(origin: Origin, secret: string): Promise<WatchStatus>;
  /** Sends an event of type `watch.test`. Throws NotAgreed. */
  test(origin: Origin, secret: string): Promise<WatchStatus>;
  stop(origin: Origin, secret: string): Promise<WatchStatus>;
};

export type WatchDeskOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  readonly siteUrl: string;
  readonly timing?: WatchTiming;
  readonly resolver?: Resolver;
};

const SECRET_BYTES = 32;

export function createWatchDesk(options: WatchDeskOptions): WatchDesk {
  const { store, siteUrl, timing = toWatchTiming() } = options;
  const context = { store, timing };

  /** A wrong secret and no watch at all cost the same: one look-up, one comparison. */
  async function findOwn({ host }: Origin, secret: string): Promise<WatchState> {
    const watch = await findWatch(store, host);
    const isOwn = isSameHash(hashSecret(secret), hashSecret(watch?.secret ?? ''));
    if (watch === null || !isOwn) throw new NotYourWatch(host);
    return watch;
  }

  return {
    async create(origin, client, { webhook: given, listingKey }) {
      const { webhook, receiver } = readWebhook(given, options.policy);
      const { host, url: originUrl } = origin;
      const { tokenHash } = await requireOwner(store, host, client, listingKey);
      await requireAddress(receiver, options);
      const replaced = await findWatch(store, host);
      const wanted = { receiver: receiver.host, client: client.key };
      const held = { store, agreeWithinMs: timing.agreeWithinMs };
      const places = await takePlaces(held, origin, wanted, liveOnly(replaced));
      const nowMs = store.now();
      const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
      const challenge = newSecret();
      const endsAtMs = nowMs + timing.lifetimeMs;
      const started: WatchState = {
        ...NEW,
        ...{ host, originUrl, webhook, receiver: receiver.host, secret, challenge, tokenHash },
        ...{ places, createdAtMs: nowMs, endsAtMs },
      };
      const endsAt = toIso(endsAtMs);
      const event = { type: 'watch.started', before: null, after: null } as const;
      const more = { challenge, endsAt };
      let last: WatchState | null = null;
      await changeWatch(context, host, (before) => {
        last = before;
        const state = { ...started, ...ofToday(before, nowMs, timing) };
        return addEvents(state, [{ ...event, more }], { nowMs, siteUrl });
      });
      await freeOf(store, last);
      return { host, secret, endsAt, feedUrl: feedUrl(siteUrl, host) };
    },

    async status(origin, secret) {
      return statusOf(await findOwn(origin, secret));
    },

    async test(origin, secret) {
      const watch = await findOwn(origin, secret);
      if (toPhase(watch) !== 'active') throw new NotAgreed(toPhase(watch) === 'ended');
      const event = { type: 'watch.test', before: null, after: null } as const;
      const nowMs = store.now();
      const tell = (held: WatchState) => addEvents(held, [event], { nowMs, siteUrl });
      const changed = await changeWatch(context, origin.host, ifSame(watch, tell));
      if (changed === null) throw new NotAgreed(true);
      return statusOf(changed);
    },

    async stop(origin, secret) {
      const watch = await findOwn(origin, secret);
      const end = (held: WatchState) => ({ state: endWatch(held, store.now()) });
      const changed = await changeWatch(context, origin.host, ifSame(watch, end));
      await freePlaces(store, watch.places);
      return statusOf(changed ?? (await findOwn(origin, secret)));
    },
  };
}

const NEW = {
  agreedAtMs: null,
  endedAtMs: null,
  isEndTold: false,
  nextLookAtMs: null,
  scannedDay: null,
  readDay: null,
  scanId: null,
  scannedAtMs: 0,
  baseline: null,
  suspicions: {},
  deliveries: [],
  failedForMs: 0,
} as const;

/** Copies today's scan from the earlier watch: a host is scanned once a day, however often its watch is replaced. */
function ofToday(
  before: WatchState | null,
  nowMs: number,
  timing: WatchTiming,
): Partial<WatchState> {
  if (before === null || before.scannedDay !== toDay(nowMs, timing)) return {};
  const { scannedDay, readDay, scanId, scannedAtMs, baseline } = before;
  return { scannedDay, readDay, scanId, scannedAtMs, baseline };
}

function liveOnly(watch: WatchState | null): WatchState | null {
  return watch?.endedAtMs === null ? watch : null;
}

async function freeOf(store: Store, replaced: WatchState | null): Promise<void> {
  if (replaced !== null) await freePlaces(store, replaced.places);
}

/** Throws OriginRefused. */
function readWebhook(given: string, policy: OriginPolicy) {
  const url = validateUrl(given, policy);
  url.hash = '';
  return { webhook: url.href, receiver: toOrigin(url) };
}

/** One reason for every name without a public address, so that nobody can query our DNS. */
async function requireAddress(
  receiver: Origin,
  { policy, resolver = systemResolver() }: WatchDeskOptions,
): Promise<void> {
  const resolved = await resolveHost(receiver, policy, resolver);
  if (resolved.kind === 'addresses') return;
  throw new OriginRefused(
    'blocked_ip',
    'The host of the webhook gave no address of the public internet: give a public https URL.',
  );
}

function statusOf(watch: WatchState): WatchStatus {
  const { host, endsAtMs, endedAtMs, nextLookAtMs, deliveries } = watch;
  return {
    host,
    state: toPhase(watch),
    endsAt: toIso(endedAtMs ?? endsAtMs),
    nextLookAt: nextLookAtMs === null ? null : toIso(nextLookAtMs),
    deliveries: deliveries
      .slice(-SHOWN_DELIVERIES)
      .toReversed()
      .map(({ id, type, atMs, tries, status }) => ({ id, type, at: toIso(atMs), tries, status })),
  };
}

function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}
