import { randomBytes } from 'node:crypto';
import { OriginRefused, OurFault } from '../../scanner/guard/failures.ts';
import { createSystemResolver, type Resolver } from '../../scanner/guard/name-servers.ts';
import {
  type Origin,
  type OriginPolicy,
  toOrigin,
  validateUrl,
} from '../../scanner/guard/origin.ts';
import { resolveHost } from '../../scanner/guard/resolve.ts';
import { toFeedUrl } from '../directory/feeds.ts';
import { ScannerFailed } from '../errors/errors.ts';
import { requireOwner } from '../ownership/change-listing.ts';
import { createSecret, hashSecret, isSameHash } from '../ownership/token-reader.ts';
import type { Store } from '../store/store.ts';
import type { Client } from '../turns/client-key.ts';
import { findRegistrableDomain } from '../turns/origin-turns.ts';
import { changeLive, changeWatch, endLive, findWatch, queueEvents } from './change-watch.ts';
import { NotAgreed, NotYourWatch, refuseTooMany, WatchJustReplaced } from './quotas.ts';
import {
  SHOWN_DELIVERIES,
  toDay,
  toPhase,
  type WatchReplacement,
  type WatchState,
  type WatchTiming,
  type WebhookDelivery,
} from './state.ts';

type WatchRequest = { readonly webhook: string; readonly listingKey?: string | undefined };

export type OwnerWatches = ReturnType<typeof createOwnerWatches>;

type OwnerWatchesOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  readonly siteUrl: string;
  /** If false, a watch may be replaced at any time. */
  readonly isRateLimited: boolean;
  readonly timing: WatchTiming;
  readonly resolver?: Resolver;
};

const SECRET_BYTES = 32;
/** Limits of replacements of one watch within `replaceAgainAfterMs`. */
const MAX_AGREED_REPLACEMENTS = 1;
const MAX_PENDING_REPLACEMENTS = 3;
/** These events concern only the replaced watch or its receiver. */
const NOT_COPIED_EVENTS: ReadonlySet<string> = new Set(['watch.started', 'watch.ending']);

/** The operations of owners on their watches. All methods except `create` throw NotYourWatch. */
export function createOwnerWatches(options: OwnerWatchesOptions) {
  const { store, policy, siteUrl, timing, resolver = createSystemResolver() } = options;

  /** A missing watch takes the same time as a wrong secret: one look-up and one comparison. */
  async function requireWatch({ host }: Origin, secret: string): Promise<WatchState> {
    const watch = await findWatch(store, host);
    const isOwn = isSameHash(hashSecret(secret), hashSecret(watch?.secret ?? ''));
    if (watch === null || !isOwn) throw new NotYourWatch(host);
    return watch;
  }

  return {
    /**
     * Creates a watch, or replaces the watch of the host. Throws NotVerified, NotYourProof, OriginRefused,
     * ScannerFailed, WatchJustReplaced, TooManyWatches.
     */
    async create(origin: Origin, client: Client, request: WatchRequest) {
      const { webhook, receiver } = readWebhook(request.webhook, policy);
      const { host, url: originUrl } = origin;
      const { tokenHash } = await requireOwner(store, host, client, request.listingKey);
      const oldWatch = await findWatch(store, host);
      // Throws before the slower steps. The update below decides, because the watch may change meanwhile.
      addReplacement(options, oldWatch);
      await requireAddress(receiver, { policy, resolver });
      const domain = await findRegistrableDomain(origin);
      const parties = { host, receiver: receiver.host, domain, client: client.key };
      await refuseTooMany(store, { ...parties, holdsPlace: isAgreedBy(receiver, oldWatch) });
      const nowMs = store.now();
      const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
      const agreement = createSecret();
      const endsAtMs = nowMs + timing.lifetimeMs;
      const secrets = { secret, challenge: agreement, tokenHash };
      const addresses = { originUrl, webhook, block: client.block };
      const times = { createdAtMs: nowMs, endsAtMs };
      const newWatch = { ...NEW_WATCH, ...parties, ...addresses, ...secrets, ...times };
      const endsAt = toIso(endsAtMs);
      const event = { type: 'watch.started', more: { challenge: agreement, endsAt } } as const;
      await changeWatch(options, host, (before) => {
        const changes = addReplacement(options, before);
        const holdsPlace = isAgreedBy(receiver, before);
        const state = { ...newWatch, changes, holdsPlace, ...copyFindings(before, nowMs, timing) };
        const queued = queueEvents(state, [event], { nowMs, siteUrl });
        const deliveries = [...queued.state.deliveries, ...copyWaitingEvents(before, nowMs)];
        return { ...queued, state: { ...queued.state, deliveries } };
      });
      return { host, secret, endsAt, feedUrl: toFeedUrl(siteUrl, host) };
    },

    async status(origin: Origin, secret: string) {
      return toWatchStatus(await requireWatch(origin, secret));
    },

    /** Sends an event of type `watch.test`. Throws NotAgreed. */
    async test(origin: Origin, secret: string) {
      const watch = await requireWatch(origin, secret);
      if (toPhase(watch) !== 'active') throw new NotAgreed(toPhase(watch) === 'ended');
      const nowMs = store.now();
      const changed = await changeLive(options, watch, (state) =>
        queueEvents(state, [{ type: 'watch.test' }], { nowMs, siteUrl }),
      );
      // The watch has ended or was replaced meanwhile.
      if (changed === null) throw new NotAgreed(true);
      return toWatchStatus(changed);
    },

    async stop(origin: Origin, secret: string) {
      const watch = await requireWatch(origin, secret);
      // A watch that had ended before shows the same status.
      return toWatchStatus((await endLive(options, watch)) ?? (await requireWatch(origin, secret)));
    },
  };
}

const NEW_WATCH = {
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

/** Returns the latest replacements of a host's watch, and this replacement. Throws WatchJustReplaced. */
function addReplacement(
  { store, isRateLimited, timing: { replaceAgainAfterMs } }: OwnerWatchesOptions,
  before: WatchState | null,
): readonly WatchReplacement[] {
  if (before === null) return [];
  const nowMs = store.now();
  const wasAgreed = before.agreedAtMs !== null;
  const recent = before.changes.filter(({ atMs }) => atMs > nowMs - replaceAgainAfterMs);
  const sameKind = recent.filter((change) => change.wasAgreed === wasAgreed);
  const limit = wasAgreed ? MAX_AGREED_REPLACEMENTS : MAX_PENDING_REPLACEMENTS;
  const [oldest] = sameKind.slice(-limit);
  if (isRateLimited && oldest !== undefined && sameKind.length >= limit) {
    throw new WatchJustReplaced(before.host, limit, oldest.atMs + replaceAgainAfterMs - nowMs);
  }
  return [...recent, { atMs: nowMs, wasAgreed }].slice(
    -MAX_AGREED_REPLACEMENTS - MAX_PENDING_REPLACEMENTS,
  );
}

/** True if the same receiver has agreed to the replaced watch. The new watch then takes its part of the quota. */
function isAgreedBy({ host }: Origin, before: WatchState | null): boolean {
  return before?.endedAtMs === null && before.holdsPlace && before.receiver === host;
}

/**
 * Copies the findings of the replaced watch, so that the new watch misses no change. If the old watch has ended, its
 * findings are copied only if it scanned today: a host is scanned once a day, however often its watch is replaced.
 */
function copyFindings(before: WatchState | null, nowMs: number, timing: WatchTiming) {
  if (before === null) return {};
  if (before.endedAtMs !== null && before.scannedDay !== toDay(nowMs, timing)) return {};
  const { scannedDay, readDay, scanId, scannedAtMs, baseline, suspicions } = before;
  return { scannedDay, readDay, scanId, scannedAtMs, baseline, suspicions };
}

/** Copies the undelivered events of the replaced watch. They are sent when the new receiver agrees. */
function copyWaitingEvents(before: WatchState | null, nowMs: number): readonly WebhookDelivery[] {
  return (before?.deliveries ?? [])
    .filter(({ status, type }) => status === 'waiting' && !NOT_COPIED_EVENTS.has(type))
    .map((delivery) => ({ ...delivery, tries: 0, nextTryAtMs: nowMs, lastTryAtMs: null }));
}

/** Throws OriginRefused. */
function readWebhook(text: string, policy: OriginPolicy) {
  const url = validateUrl(text, policy);
  url.hash = '';
  return { webhook: url.href, receiver: toOrigin(url) };
}

/** Throws ScannerFailed, and one OriginRefused for all names without an address: callers must not query our DNS. */
async function requireAddress(
  receiver: Origin,
  { policy, resolver }: Required<Pick<OwnerWatchesOptions, 'policy' | 'resolver'>>,
): Promise<void> {
  // One try, because the caller waits and can repeat the call.
  const resolved = await resolveHost(receiver, policy, resolver, 1);
  if (resolved.kind === 'addresses') return;
  if (resolved.kind === 'our-fault') throw new ScannerFailed(new OurFault(resolved.detail));
  throw new OriginRefused(
    'blocked_ip',
    'The host of the webhook gave no address of the public internet: give a public https URL.',
  );
}

function toWatchStatus(watch: WatchState) {
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
