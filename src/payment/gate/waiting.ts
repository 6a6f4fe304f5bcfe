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

/** Returns null after a disconnect, because nobody can be answered then. */
export function toEndError(end: CallEnd): Error | null {
  if (end === 'disconnected') return null;
  return end === 'late' ? new ScanProcessing() : new Saturated();
}

export type WaitResult<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: CallEnd };

/** Returns null while the call may continue. */
export function findEnd(call: PaidCall, stopping?: AbortSignal): CallEnd | null {
  if (call.disconnect.aborted) return 'disconnected';
  if (stopping?.aborted) return 'stopping';
  return leftMs(call) === 0 ? 'late' : null;
}

/** Waits for work until the client disconnects, the deadline passes or the service stops. The work itself continues. */
export function withDeadline<T>(
  work: Promise<T>,
  call: PaidCall,
  stopping?: AbortSignal,
): Promise<WaitResult<T>> {
  const end = Promise.withResolvers<WaitResult<T>>();
  const onDisconnect = () => end.resolve({ kind: 'disconnected' });
  const onStop = () => end.resolve({ kind: 'stopping' });
  if (call.disconnect.aborted) onDisconnect();
  if (stopping?.aborted) onStop();
  call.disconnect.addEventListener('abort', onDisconnect, { once: true });
  stopping?.addEventListener('abort', onStop, { once: true });
  const timer = setTimeout(() => end.resolve({ kind: 'late' }), leftMs(call));
  const done = work.then((value) => ({ kind: 'done', value }) as const);
  return Promise.race([done, end.promise]).finally(() => {
    clearTimeout(timer);
    call.disconnect.removeEventListener('abort', onDisconnect);
    stopping?.removeEventListener('abort', onStop);
  });
}

function leftMs({ deadlineMs }: PaidCall): number {
  return Math.max(0, deadlineMs - performance.now());
}

/** A purchase that this process works on now. */
export type CallInFlight = {
  readonly purchase: Purchase;
  /** True once money may move. */
  readonly isSettling: boolean;
  readonly outcome: Promise<PurchaseOutcome>;
};

/** The purchases that this process works on, by key. A later call with the same key waits for the first. */
export class InFlightCalls {
  readonly #calls = new Map<string, CallInFlight>();

  get(key: string): CallInFlight | undefined {
    return this.#calls.get(key);
  }

  has(key: string): boolean {
    return this.#calls.has(key);
  }

  /** The key must not be in flight. */
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

/** State of a key after a wait. */
export type KeyState =
  | { readonly kind: 'free'; readonly entry: LedgerEntry | null }
  /** `entry` is null if a call of this process has just bought the answer. */
  | { readonly kind: 'paid'; readonly delivery: PaidDelivery; readonly entry: LedgerEntry | null }
  | { readonly kind: 'refused'; readonly error: unknown }
  | { readonly kind: 'disconnected' };

/**
 * Waits until no other call works on a key, then returns the key's state. If the key is of this call's own payment, an
 * error of the other call is returned too. If it is another key of the same payer and request, that error makes the key
 * `free`. `known` is the entry, if the caller has just read it; undefined if it must be read.
 */
export async function awaitPayment(
  { deps, inFlight }: { readonly deps: GateDeps; readonly inFlight: InFlightCalls },
  key: string,
  purchase: Purchase,
  known?: LedgerEntry | null,
): Promise<KeyState> {
  let wasBusy = false;
  let fresh = known;
  for (;;) {
    if (purchase.call.disconnect.aborted) return { kind: 'disconnected' };
    const other = inFlight.get(key);
    if (other !== undefined) {
      const state = await awaitCall(other, purchase, key === purchase.key);
      if (state !== null) return state;
      fresh = undefined;
      continue;
    }
    const entry: LedgerEntry | null =
      fresh === undefined ? await deps.store.ledger.findEntry(key) : fresh;
    if (entry === null) return { kind: 'free', entry };
    const state = await readKeyState(deps, entry, purchase, wasBusy);
    if (state !== null) return state;
    // A call past its deadline does not wait. `readKeyState` would have returned a stored answer.
    if (findEnd(purchase.call) === 'late') return { kind: 'refused', error: toLateError(entry) };
    wasBusy = true;
    const end = await awaitStep(deps, entry, purchase);
    if (end !== null) return end;
    fresh = undefined;
  }
}

/** While the payment is in doubt, the error must not promise that the call is uncharged. */
function toLateError(entry: LedgerEntry): Error {
  return toProgress(entry.last.state) === 'in_doubt' ? toDoubtError(entry) : new ScanProcessing();
}

function toDoubtError(entry: LedgerEntry): SettlementUnknown {
  const { authorization, requirements } = readPayment(entry);
  return createUnknownError(authorization, requirements.network, findTransaction(entry));
}

/** Returns null while a call works on the key, or while its payment is in doubt. */
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
      return { kind: 'paid', delivery: await findDelivery(deps.store, entry, isOwn), entry };
    case 'failed':
      return isOwn ? { kind: 'refused', error: createUnpaidError() } : { kind: 'free', entry };
    case 'working':
    case 'in_doubt':
      return null;
  }
}

/** Waits for another call of this process. If it ended without an answer, returns null, and the caller starts again. */
async function awaitCall(
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

/**
 * Makes one step for a key that no call of this process works on: waits for the key's instance, takes the key over, or
 * lets the reconciler look up its payment. Returns null if the key must be read again.
 */
async function awaitStep(
  { store, reconciler, retryWithinMs = RETRY_WITHIN_MS }: GateDeps,
  entry: LedgerEntry,
  { call }: Purchase,
): Promise<KeyState | null> {
  const { owner, state } = entry.last;
  const isOwnedByUs = owner.boot === store.info.owner.boot && owner.host === store.info.owner.host;
  const isOwnedByOther = !isOwnedByUs && (await store.instances.isAlive(owner));
  // The other instance writes the end of its work to the ledger, which the caller reads again.
  if (isOwnedByOther && state !== 'unknown') {
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
  return { kind: 'refused', error: toDoubtError(latest) };
}

/** Releases a key whose payment was not sent, because its process is gone or its call has lost it. */
async function takeOver(ledger: GateDeps['store']['ledger'], entry: LedgerEntry): Promise<void> {
  try {
    await LedgerWriter.onEntry(ledger, entry).write('released', { reason: 'its owner is gone' });
  } catch (error) {
    if (!(error instanceof StepLost)) throw error;
  }
}
