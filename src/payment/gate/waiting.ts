import { setTimeout as pause } from 'node:timers/promises';
import { Saturated, ScanProcessing, type SettlementUnknown } from '../../model/errors.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import {
  findTransaction,
  LedgerWriter,
  readPayment,
  StepLost,
  toProgress,
} from '../ledger/ledger.ts';
import type { PaidCall } from '../paid-route.ts';
import { findDelivery, readReleaseError } from './answers.ts';
import {
  type GateDeps,
  type PaidDelivery,
  type Purchase,
  type PurchaseOutcome,
  RETRY_WITHIN_MS,
} from './purchase.ts';
import { refuseConflict } from './redelivery.ts';
import { createUnknownError, createUnpaidError } from './settlement.ts';

/** Poll interval while another instance works on the key. */
const POLL_INTERVAL_MS = 200;

/** Reasons that end a call before its work is done. */
export type CallEnd = 'disconnected' | 'late' | 'stopping';

/** Null if no caller is left to be answered. */
export function toEndError(ended: CallEnd): Error | null {
  if (ended === 'disconnected') return null;
  return ended === 'late' ? new ScanProcessing() : new Saturated();
}

export type WaitResult<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: CallEnd };

export function findEnd(call: PaidCall, stopping?: AbortSignal): CallEnd | null {
  if (call.disconnect.aborted) return 'disconnected';
  if (stopping?.aborted) return 'stopping';
  return leftMs(call) === 0 ? 'late' : null;
}

/** Waits for work until the caller leaves or its deadline passes; the work itself goes on. */
export function withDeadline<T>(
  work: Promise<T>,
  call: PaidCall,
  stopping?: AbortSignal,
): Promise<WaitResult<T>> {
  const over = Promise.withResolvers<WaitResult<T>>();
  const onDisconnect = () => over.resolve({ kind: 'disconnected' });
  const onStop = () => over.resolve({ kind: 'stopping' });
  if (call.disconnect.aborted) onDisconnect();
  if (stopping?.aborted) onStop();
  call.disconnect.addEventListener('abort', onDisconnect, { once: true });
  stopping?.addEventListener('abort', onStop, { once: true });
  const timer = setTimeout(() => over.resolve({ kind: 'late' }), leftMs(call));
  const done = work.then((value) => ({ kind: 'done', value }) as const);
  return Promise.race([done, over.promise]).finally(() => {
    clearTimeout(timer);
    call.disconnect.removeEventListener('abort', onDisconnect);
    stopping?.removeEventListener('abort', onStop);
  });
}

function leftMs({ deadlineMs }: PaidCall): number {
  return Math.max(0, deadlineMs - performance.now());
}

/** A purchase that this process works on at this moment. */
export type CallInFlight = {
  readonly purchase: Purchase;
  /** After this, money may move even if the client disconnects. */
  readonly isSettling: boolean;
  readonly outcome: Promise<PurchaseOutcome>;
};

/** The keys that this process works on; calls with the same key join the first. */
export class InFlightCalls {
  readonly #calls = new Map<string, CallInFlight>();

  get(key: string): CallInFlight | undefined {
    return this.#calls.get(key);
  }

  has(key: string): boolean {
    return this.#calls.has(key);
  }

  /** The caller has made sure that there is none for this key. */
  start(
    purchase: Purchase,
    run: { readonly isSettling: boolean; run(): Promise<PurchaseOutcome> },
  ): Promise<PurchaseOutcome> {
    const outcome = run.run().finally(() => this.#calls.delete(purchase.key));
    this.#calls.set(purchase.key, {
      purchase,
      outcome,
      get isSettling() {
        return run.isSettling;
      },
    });
    return outcome;
  }

  async awaitAll(): Promise<void> {
    await Promise.allSettled([...this.#calls.values()].map(({ outcome }) => outcome));
  }
}

/** An answer, an error to be answered, or null for a free key. */
export type KeyState =
  | { readonly kind: 'free'; readonly entry: LedgerEntry | null }
  /** `entry` is null if this process has just sold it. */
  | { readonly kind: 'paid'; readonly delivery: PaidDelivery; readonly entry: LedgerEntry | null }
  | { readonly kind: 'refused'; readonly error: unknown }
  | { readonly kind: 'disconnected' };

/**
 * Waits until another call has ended its work on a key, or returns the key's state if it is known. For
 * its own key a caller gets the error that ended the other call as well; under another key (of the same payer
 * and request) only a paid answer is of use.
 */
export async function awaitPayment(
  { deps, inFlight }: { readonly deps: GateDeps; readonly inFlight: InFlightCalls },
  key: string,
  purchase: Purchase,
  known?: LedgerEntry | null,
): Promise<KeyState> {
  let wasBusy = false;
  // The caller's row serves for the first pass; after a wait the key is read again.
  let read = known;
  for (;;) {
    if (purchase.call.disconnect.aborted) return { kind: 'disconnected' };
    const other = inFlight.get(key);
    if (other !== undefined) {
      const state = await join(other, purchase, key === purchase.key);
      if (state !== null) return state;
      read = undefined;
      continue;
    }
    const entry: LedgerEntry | null =
      read === undefined ? await deps.store.ledger.findEntry(key) : read;
    if (entry === null) return { kind: 'free', entry };
    const state = await readKeyState(deps, entry, purchase, wasBusy);
    if (state !== null) return state;
    // After its deadline a call still gets a stored answer, but does not wait.
    if (findEnd(purchase.call) === 'late') return { kind: 'refused', error: lateError(entry) };
    wasBusy = true;
    const doubt = await awaitElsewhere(deps, entry, purchase);
    if (doubt !== null) return doubt;
    read = undefined;
  }
}

/** While a payment of the key is in doubt, its error must not promise that the call is uncharged. */
function lateError(entry: LedgerEntry): Error {
  return toProgress(entry.last.state) === 'in_doubt' ? doubtOf(entry) : new ScanProcessing();
}

function doubtOf(entry: LedgerEntry): SettlementUnknown {
  const { authorization, requirements } = readPayment(entry);
  return createUnknownError(authorization, requirements.network, findTransaction(entry));
}

/** Null if a call works on it, or if it is in doubt. */
async function readKeyState(
  deps: GateDeps,
  entry: LedgerEntry,
  purchase: Purchase,
  wasBusy: boolean,
): Promise<KeyState | null> {
  const isOwn = entry.key === purchase.key;
  const progress = toProgress(entry.last.state);
  if (progress === 'free') {
    const error = wasBusy && isOwn ? readReleaseError(entry.last) : null;
    return error === null ? { kind: 'free', entry } : { kind: 'refused', error };
  }
  if (isOwn) refuseConflict({ request: entry.last.request, payment: readPayment(entry) }, purchase);
  switch (progress) {
    case 'paid':
      return { kind: 'paid', delivery: await findDelivery(deps.store, entry, { isOwn }), entry };
    case 'failed':
      return isOwn ? { kind: 'refused', error: createUnpaidError() } : { kind: 'free', entry };
    case 'working':
    case 'in_doubt':
      return null;
  }
}

/** Null if the other caller left; calls that still wait start again. */
async function join(
  other: CallInFlight,
  purchase: Purchase,
  isOwn: boolean,
): Promise<KeyState | null> {
  const { payment, offer, request } = other.purchase;
  if (isOwn) {
    refuseConflict(
      { request, payment: { ...payment, requirements: offer.requirements } },
      purchase,
    );
  }
  const waited = await withDeadline(other.outcome, purchase.call);
  if (waited.kind === 'disconnected') return { kind: 'disconnected' };
  if (waited.kind !== 'done') {
    const error = other.isSettling
      ? createUnknownError(payment.authorization, offer.requirements.network, null)
      : new ScanProcessing();
    return { kind: 'refused', error };
  }
  const outcome = waited.value;
  switch (outcome.kind) {
    case 'paid':
      return { kind: 'paid', delivery: outcome.delivery, entry: null };
    case 'refused':
      return isOwn ? outcome : null;
    case 'unknown':
      return { kind: 'refused', error: outcome.error };
    case 'abandoned':
    case 'disconnected':
      return null;
  }
}

/** One step towards an answer for a key that this process does not work on; an error ends the wait. */
async function awaitElsewhere(
  { store, reconciler, retryWithinMs = RETRY_WITHIN_MS }: GateDeps,
  entry: LedgerEntry,
  { call }: Purchase,
): Promise<KeyState | null> {
  const { owner, state } = entry.last;
  const isOurs = owner.boot === store.info.owner.boot && owner.host === store.info.owner.host;
  const isOthers = !isOurs && (await store.instances.isAlive(owner));
  // A live instance that works on the key writes its end to the ledger.
  if (isOthers && state !== 'unknown') {
    await pause(POLL_INTERVAL_MS);
    return null;
  }
  if (toProgress(state) === 'working') {
    await takeOver(store.ledger, entry);
    return null;
  }
  const waited = await withDeadline(reconciler.resolve(entry.key, retryWithinMs), call);
  if (waited.kind === 'disconnected') return { kind: 'disconnected' };
  const latest = waited.kind === 'done' ? waited.value : entry;
  if (latest === null || toProgress(latest.last.state) !== 'in_doubt') return null;
  return { kind: 'refused', error: doubtOf(latest) };
}

/** Releases the key of a process that is gone, or of a call that lost track of it, before it was sent. */
async function takeOver(ledger: GateDeps['store']['ledger'], entry: LedgerEntry): Promise<void> {
  try {
    await LedgerWriter.onEntry(ledger, entry).write('released', { reason: 'its owner is gone' });
  } catch (error) {
    if (!(error instanceof StepLost)) throw error;
  }
}
