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
/** Lifetime of an agreed watch's place. Watches renew themselves, so only the end of one frees its place. */
const LIFETIME_MS = 10 * 365 * 24 * 3_600_000;
/** A place whose watch is not stored within this time was left by a crashed writer. */
const STORED_WITHIN_MS = 60_000;

type PlacesContext = { readonly store: Store; readonly agreeWithinMs: number };
type Wanted = {
  readonly scope: SlotScope;
  readonly limit: number;
  readonly lifetimeMs: number;
  /** Subject of the refusal: the text that names what there are too many of. */
  readonly what: string;
};

/**
 * Takes the places of a new watch: one of its domain, and one of those whose receiver has not agreed yet.
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

/** Takes the place of a watch whose receiver agreed; null when all are taken. */
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
  // The replaced watch frees its place only afterwards, so the limit is one higher until then.
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

/** Frees places whose watch has ended or was never stored, because their writer crashed before it freed them. */
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
