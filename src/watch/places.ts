import { registrableDomain } from '../directory/origin-turns.ts';
import type { Origin } from '../guard/origin.ts';
import type { SlotScope } from '../store/contract/slots.ts';
import type { Store } from '../store/contract/store.ts';
import { findWatch } from './change-watch.ts';
import type { HeldPlace, WatchState } from './state.ts';
import { TooManyWatches } from './watch-errors.ts';

const WATCHES_A_DOMAIN = 5;
const AGREED_A_RECEIVER = 100;
const PENDING_A_RECEIVER = 10;
const PENDING_A_CLIENT = 3;
/** Of a watch that renews itself; its end frees the place. */
const LIFETIME_MS = 10 * 365 * 24 * 3_600_000;
/** A place whose watch is not stored by then belongs to none. */
const STORED_WITHIN_MS = 60_000;

type PlacesContext = { readonly store: Store; readonly agreeWithinMs: number };
type Wanted = {
  readonly scope: SlotScope;
  readonly limit: number;
  readonly lifetimeMs: number;
  /** What the refusal says there are too many of. */
  readonly what: string;
};

/**
 * Places of a new watch: one of its domain's, and one of those that a receiver has not agreed to.
 * Throws TooManyWatches.
 */
export async function takePlaces(
  { store, agreeWithinMs }: PlacesContext,
  origin: Origin,
  { receiver, client }: { readonly receiver: string; readonly client: string },
  replaced: WatchState | null,
): Promise<readonly HeldPlace[]> {
  const agreed = await store.slots.live(agreedScope(receiver));
  if (agreed.length >= AGREED_A_RECEIVER) {
    await freeUnused(store, agreedScope(receiver));
    const left = await store.slots.live(agreedScope(receiver));
    if (left.length >= AGREED_A_RECEIVER)
      throw new TooManyWatches(`${receiver} has agreed to ${left.length} watches`);
  }
  const pending = ['watch', 'pending', receiver];
  const domain = await registrableDomain(origin);
  const wanted: readonly Wanted[] = [
    {
      scope: ['watch', 'domain', domain],
      limit: WATCHES_A_DOMAIN,
      lifetimeMs: LIFETIME_MS,
      what: `hosts of ${domain} are watched`,
    },
    {
      scope: pending,
      limit: PENDING_A_RECEIVER,
      lifetimeMs: agreeWithinMs,
      what: `watches wait for ${receiver} to agree`,
    },
    {
      scope: [...pending, client],
      limit: PENDING_A_CLIENT,
      lifetimeMs: agreeWithinMs,
      what: `watches of yours wait for ${receiver} to agree`,
    },
  ];
  const taken: HeldPlace[] = [];
  try {
    for (const one of wanted) taken.push(await take(store, origin.host, one, replaced));
    return taken;
  } catch (error) {
    await freePlaces(store, taken);
    throw error;
  }
}

/** The place of a watch whose receiver agreed; null where there are too many by now. */
export async function takeAgreedPlace(
  store: Store,
  { host, receiver }: WatchState,
): Promise<HeldPlace | null> {
  const scope = agreedScope(receiver);
  return tryTake(store, host, { scope, limit: AGREED_A_RECEIVER, lifetimeMs: LIFETIME_MS });
}

export async function freePlaces(store: Store, places: readonly HeldPlace[]): Promise<void> {
  for (const place of places) await store.slots.release(place);
}

function agreedScope(receiver: string): SlotScope {
  return ['watch', 'agreed', receiver];
}

async function take(
  store: Store,
  host: string,
  { what, ...wanted }: Wanted,
  replaced: WatchState | null,
): Promise<HeldPlace> {
  // The place of the watch that this one replaces is free once it does.
  const isHeld = replaced?.places.some(({ scope }) => isSame(scope, wanted.scope)) === true;
  const limit = wanted.limit + (isHeld ? 1 : 0);
  const place = await tryTake(store, host, { ...wanted, limit });
  if (place !== null) return place;
  await freeUnused(store, wanted.scope);
  const freed = await tryTake(store, host, { ...wanted, limit });
  if (freed !== null) return freed;
  throw new TooManyWatches(`${wanted.limit} ${what}`);
}

async function tryTake(
  store: Store,
  host: string,
  wanted: Omit<Wanted, 'what'>,
): Promise<HeldPlace | null> {
  const outcome = await store.slots.take({ ...wanted, endsWithOwner: false, data: host });
  if (!outcome.taken) return null;
  return { scope: wanted.scope, attempt: outcome.slot.attempt };
}

/** Frees places whose watch is over or never was: their writer died before it freed them. */
async function freeUnused(store: Store, scope: SlotScope): Promise<void> {
  for (const slot of await store.slots.live(scope)) {
    if (store.now() - slot.takenAtMs < STORED_WITHIN_MS) continue;
    const watch = await findWatch(store, slot.data ?? '');
    const isUsed =
      watch?.endedAtMs === null && watch.places.some(({ attempt }) => attempt === slot.attempt);
    if (!isUsed) await store.slots.release(slot);
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
