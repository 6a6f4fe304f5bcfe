import type { Store } from '../store/store.ts';
import type { LiveWatches } from '../store/watches.ts';
import { fromVersion, type WatchState } from './state.ts';
import { TooManyWatches } from './watch-errors.ts';

const WATCHES_A_DOMAIN = 5;
const AGREED_A_RECEIVER = 100;
/** Of one client, and of one watched domain. */
const PENDING_A_RECEIVER = 3;
/** Racing callers may pass a limit, so a few more are read. */
const READ_LIMIT = 2 * AGREED_A_RECEIVER;

type Wanted = Pick<WatchState, 'host' | 'receiver' | 'domain' | 'client' | 'holdsPlace'>;

/** `evicted` is the watch that has to end first. */
type Room = { readonly evicted: WatchState | null };

/**
 * Refuses a new watch beyond a limit. Watches are counted by reading, so racing callers may pass a limit by as many
 * as they are. Throws TooManyWatches.
 */
export async function refuseCrowd(store: Store, wanted: Wanted): Promise<void> {
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
 * of them gives up its newest to a domain with none.
 */
export async function findRoom(
  store: Store,
  wanted: Pick<Wanted, 'host' | 'receiver' | 'domain'>,
): Promise<Room | null> {
  const { receiver, domain } = wanted;
  const agreed = await others(store, wanted, { receiver, holdsPlace: true });
  if (agreed.length < AGREED_A_RECEIVER) return { evicted: null };
  const byDomain = Map.groupBy(agreed, (watch) => watch.domain);
  const [most = []] = [...byDomain.values()].toSorted((one, other) => other.length - one.length);
  if (byDomain.has(domain) || most.length < 2) return null;
  return {
    evicted: most.reduce((newest, one) => (one.createdAtMs > newest.createdAtMs ? one : newest)),
  };
}

/** Watches of other hosts. */
async function others(
  { watches }: Store,
  { host }: Pick<Wanted, 'host'>,
  which: LiveWatches,
): Promise<readonly WatchState[]> {
  const live = await watches.live(which, READ_LIMIT);
  return live.filter((one) => one.host !== host).map(fromVersion);
}
