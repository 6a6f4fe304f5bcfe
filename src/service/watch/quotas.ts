import { ServiceError } from '../errors/error-codes.ts';
import type { Store } from '../store/store.ts';
import type { LiveWatches } from '../store/watches.ts';
import { fromVersion, type WatchState } from './state.ts';

const WATCHES_PER_DOMAIN = 5;
const AGREED_PER_RECEIVER = 100;
/** Limit for each client, and for each watched domain, at one receiver. */
const PENDING_PER_RECEIVER = 3;
/** Callers that race may exceed a limit, so more watches are read than the limit allows. */
const MAX_WATCHES_READ = 2 * AGREED_PER_RECEIVER;

type QuotaRequest = Pick<WatchState, 'host' | 'receiver' | 'domain' | 'client' | 'holdsPlace'>;

/** Throws TooManyWatches. Callers that race read the same count, and each may exceed a limit by one watch. */
export async function refuseTooMany(store: Store, request: QuotaRequest): Promise<void> {
  const { receiver, domain, client, holdsPlace } = request;
  if ((await findOthers(store, request, { domain })).length >= WATCHES_PER_DOMAIN) {
    throw new TooManyWatches(`${WATCHES_PER_DOMAIN} hosts of ${domain} are watched`);
  }
  if (holdsPlace) return;
  if ((await findRoom(store, request)) === null) {
    throw new TooManyWatches(`${receiver} has agreed to ${AGREED_PER_RECEIVER} watches`);
  }
  const pending = { receiver, holdsPlace: false };
  for (const [filter, ownerText] of [
    [{ ...pending, client }, 'of yours'],
    [{ ...pending, domain }, `of ${domain}`],
  ] as const) {
    if ((await findOthers(store, request, filter)).length < PENDING_PER_RECEIVER) continue;
    throw new TooManyWatches(
      `${PENDING_PER_RECEIVER} watches ${ownerText} wait for ${receiver} to agree`,
    );
  }
}

/**
 * Finds room for a watch in the quota of its receiver; null if there is none. If the quota is used up, a domain without
 * a watch gets the room of another watch: the newest watch of the domain with most watches. The caller has to end this
 * `evicted` watch first.
 */
export async function findRoom(
  store: Store,
  request: Pick<QuotaRequest, 'host' | 'receiver' | 'domain'>,
): Promise<{ readonly evicted: WatchState | null } | null> {
  const { receiver, domain } = request;
  const agreed = await findOthers(store, request, { receiver, holdsPlace: true });
  if (agreed.length < AGREED_PER_RECEIVER) return { evicted: null };
  const byDomain = Map.groupBy(agreed, (watch) => watch.domain);
  const [largest = []] = [...byDomain.values()].toSorted((a, b) => b.length - a.length);
  if (byDomain.has(domain) || largest.length < 2) return null;
  const [evicted = null] = largest.toSorted((a, b) => b.createdAtMs - a.createdAtMs);
  return { evicted };
}

async function findOthers(
  { watches }: Store,
  { host }: Pick<QuotaRequest, 'host'>,
  filter: LiveWatches,
): Promise<readonly WatchState[]> {
  const live = await watches.findLive(filter, MAX_WATCHES_READ);
  return live.filter((watch) => watch.host !== host).map(fromVersion);
}

/** Answers a wrong secret and a missing watch alike. */
export class NotYourWatch extends ServiceError {
  constructor(host: string) {
    super(
      'not_your_watch',
      `No watch of ${host} has this secret. POST /v1/watch gives the owner a new secret, and replaces the watch.`,
    );
  }
}

export class TooManyWatches extends ServiceError {
  /** `limit` is like "5 hosts of example.com are watched". */
  constructor(limit: string) {
    super(
      'too_many_watches',
      `${limit}, and that is the limit. End one with POST /v1/watch/stop, or give another webhook.`,
    );
  }
}

export class WatchJustReplaced extends ServiceError {
  constructor(host: string, limit: number, waitMs: number) {
    super(
      'rate_limited',
      `The watch of ${host} was replaced within the last ten minutes. Use the secret of the last answer, or wait as Retry-After says and replace the watch again.`,
      { limit, retryAfterSec: Math.max(1, Math.ceil(waitMs / 1_000)) },
    );
  }
}

export class NotAgreed extends ServiceError {
  /** @param isOver true if the watch has ended; false if its receiver has not agreed yet */
  constructor(isOver: boolean) {
    super(
      'not_agreed',
      isOver
        ? 'The watch is over, and nothing is sent any more. POST /v1/watch starts a new one.'
        : 'The receiver has not agreed yet. It agrees by answering the event watch.started with 200 and {"challenge":"…"}, the data.challenge of that event.',
    );
  }
}
