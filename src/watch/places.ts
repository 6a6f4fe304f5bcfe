import { ServiceError } from '../model/error-codes.ts';
import type { Store } from '../store/store.ts';
import type { LiveWatches } from '../store/watches.ts';
import { fromVersion, type WatchState } from './state.ts';

const WATCHES_A_DOMAIN = 5;
const AGREED_A_RECEIVER = 100;
/** Limit of one client, and of one watched domain. */
const PENDING_A_RECEIVER = 3;
/** Racing callers may pass a limit, so a few more are read. */
const READ_LIMIT = 2 * AGREED_A_RECEIVER;

type PlaceRequest = Pick<WatchState, 'host' | 'receiver' | 'domain' | 'client' | 'holdsPlace'>;

/**
 * Refuses a new watch beyond a limit. Watches are counted by reading, so racing callers may pass a limit by as many
 * as they are. Throws TooManyWatches.
 */
export async function refuseCrowd(store: Store, wanted: PlaceRequest): Promise<void> {
  const { receiver, domain, client, holdsPlace } = wanted;
  if ((await others(store, wanted, { domain })).length >= WATCHES_A_DOMAIN) {
    throw new TooManyWatches(`${WATCHES_A_DOMAIN} hosts of ${domain} are watched`);
  }
  if (holdsPlace) return;
  if ((await findRoom(store, wanted)) === null) {
    throw new TooManyWatches(`${receiver} has agreed to ${AGREED_A_RECEIVER} watches`);
  }
  const pending = { receiver, holdsPlace: false };
  for (const [which, whose] of [
    [{ ...pending, client }, 'of yours'],
    [{ ...pending, domain }, `of ${domain}`],
  ] as const) {
    if ((await others(store, wanted, which)).length < PENDING_A_RECEIVER) continue;
    throw new TooManyWatches(
      `${PENDING_A_RECEIVER} watches ${whose} wait for ${receiver} to agree`,
    );
  }
}

/**
 * Finds a place among the agreed watches of a receiver; null when all are taken. When they are, the domain with most
 * of them gives up its newest to a domain with none: `evicted` has to end first.
 */
export async function findRoom(
  store: Store,
  wanted: Pick<PlaceRequest, 'host' | 'receiver' | 'domain'>,
): Promise<{ readonly evicted: WatchState | null } | null> {
  const { receiver, domain } = wanted;
  const agreed = await others(store, wanted, { receiver, holdsPlace: true });
  if (agreed.length < AGREED_A_RECEIVER) return { evicted: null };
  const byDomain = Map.groupBy(agreed, (watch) => watch.domain);
  const [most = []] = [...byDomain.values()].toSorted((one, other) => other.length - one.length);
  if (byDomain.has(domain) || most.length < 2) return null;
  const [evicted = null] = most.toSorted((one, other) => other.createdAtMs - one.createdAtMs);
  return { evicted };
}

/** Watches of other hosts. */
async function others(
  { watches }: Store,
  { host }: Pick<PlaceRequest, 'host'>,
  which: LiveWatches,
): Promise<readonly WatchState[]> {
  const live = await watches.live(which, READ_LIMIT);
  return live.filter((one) => one.host !== host).map(fromVersion);
}

/** One answer for a wrong secret and for no watch at all. */
export class NotYourWatch extends ServiceError {
  constructor(host: string) {
    super(
      'not_your_watch',
      `No watch of ${host} has this secret. POST /v1/watch answers a new one to the owner, and replaces the watch.`,
    );
  }
}

export class TooManyWatches extends ServiceError {
  /** `reached` names the limit: "5 hosts of example.com are watched". */
  constructor(reached: string) {
    super(
      'too_many_watches',
      `${reached}, and that is the limit. End one with POST /v1/watch/stop, or give another webhook.`,
    );
  }
}

export class WatchJustChanged extends ServiceError {
  constructor(host: string, limit: number, waitMs: number) {
    super(
      'rate_limited',
      `The watch of ${host} was replaced within the last ten minutes. The last answer's secret is in force; wait as Retry-After says to replace it again.`,
      { limit, retryAfterSec: Math.max(1, Math.ceil(waitMs / 1_000)) },
    );
  }
}

export class NotAgreed extends ServiceError {
  constructor(isOver: boolean) {
    super(
      'not_agreed',
      isOver
        ? 'The watch is over, and nothing is sent any more. POST /v1/watch starts a new one.'
        : 'The receiver has not agreed yet. It agrees by answering the event watch.started with 200 and {"challenge":"…"}, the data.challenge of that event.',
    );
  }
}
