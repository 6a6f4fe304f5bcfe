import { setTimeout as pause } from 'node:timers/promises';
import type { SettlementUnknown } from '../../errors/errors.ts';
import type { LedgerEntry, LedgerStore } from '../../store/ledger.ts';
import {
  findTransaction,
  LedgerWriter,
  readPayment,
  StepLost,
  toProgress,
} from '../ledger/ledger.ts';
import { findDelivery, readReleaseError } from './answers.ts';
import { CallEnded, isLate, withDeadline } from './call-end.ts';
import type { GateDeps, PaidDelivery, Purchase, PurchaseOutcome } from './purchase.ts';
import { refuseConflict } from './redelivery.ts';
import { createUnknownError, createUnpaidError } from './settlement.ts';

/** Poll interval while another instance works on the key. */
const POLL_INTERVAL_MS = 200;

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
  | { readonly kind: 'refused'; readonly error: unknown };

/**
 * Waits until no other call works on a key, then returns the key's state. If `purchase` has this key, it also gets an
 * error that ended the other call. If `purchase` has another key, such an error makes the state `free`. `known` is the
 * entry of the key if the caller has just read it; undefined if this function must read it.
 */
export async function awaitPayment(
  { deps, inFlight }: { readonly deps: GateDeps; readonly inFlight: InFlightCalls },
  key: string,
  purchase: Purchase,
  known?: LedgerEntry | null,
): Promise<KeyState> {
  let wasBusy = false;
  let freshEntry = known;
  for (;;) {
    if (purchase.call.disconnect.aborted) throw new CallEnded('disconnected');
    const otherCall = inFlight.get(key);
    if (otherCall !== undefined) {
      const state = await awaitCall(otherCall, purchase, key === purchase.key);
      if (state !== null) return state;
      freshEntry = undefined;
      continue;
    }
    const entry: LedgerEntry | null =
      freshEntry === undefined ? await deps.store.ledger.findEntry(key) : freshEntry;
    if (entry === null) return { kind: 'free', entry };
    const state = await readKeyState(deps, entry, purchase, wasBusy);
    if (state !== null) return state;
    // A call past its deadline does not wait. `readKeyState` would have returned a stored answer.
    if (isLate(purchase.call)) throw toLateError(entry);
    wasBusy = true;
    await awaitStep(deps, entry, purchase);
    freshEntry = undefined;
  }
}

/** While the payment is in doubt, the error must not promise that the call is uncharged. */
function toLateError(entry: LedgerEntry): Error {
  return toProgress(entry.last.state) === 'in_doubt' ? toDoubtError(entry) : new CallEnded('late');
}

function toDoubtError(entry: LedgerEntry): SettlementUnknown {
  return createUnknownError(readPayment(entry), findTransaction(entry));
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

/** Waits for another call of this process. Returns null if that call ended without an answer for this one. */
async function awaitCall(
  otherCall: CallInFlight,
  purchase: Purchase,
  isOwn: boolean,
): Promise<KeyState | null> {
  const { payment } = otherCall.purchase;
  if (isOwn) refuseConflict(otherCall.purchase, purchase);
  const toLateError = () =>
    otherCall.isSettling ? createUnknownError(payment, null) : new CallEnded('late');
  const outcome = await withDeadline(otherCall.outcome, purchase.call, { toLateError });
  switch (outcome.kind) {
    case 'paid':
      return { kind: 'paid', delivery: outcome.delivery, entry: null };
    case 'refused':
      return isOwn ? outcome : null;
    case 'unknown':
      throw outcome.error;
    case 'abandoned':
      return null;
  }
}

/**
 * Makes one step for a key that no call of this process works on. Waits for the instance that works on the key, takes
 * the key over, or lets the reconciler look up its payment. The caller must then read the key again.
 */
async function awaitStep(
  { store, reconciler, timing }: GateDeps,
  entry: LedgerEntry,
  { call }: Purchase,
): Promise<void> {
  const { owner, state } = entry.last;
  const isOwnedByUs = owner.boot === store.info.owner.boot && owner.host === store.info.owner.host;
  const isOwnedByOther = !isOwnedByUs && (await store.instances.isAlive(owner));
  // The other instance writes the end of its work to the ledger. The caller then reads the ledger again.
  if (isOwnedByOther && state !== 'unknown') {
    await pause(POLL_INTERVAL_MS);
    return;
  }
  if (toProgress(state) === 'working') {
    await takeOver(store.ledger, entry);
    return;
  }
  const resolving = reconciler.resolve(entry.key, timing.retryWithinMs);
  const latest = await withDeadline(resolving, call, { toLateError: () => toDoubtError(entry) });
  if (latest !== null && toProgress(latest.last.state) === 'in_doubt') throw toDoubtError(latest);
}

/** Releases a key whose payment was not sent, because no process works on it any more. */
async function takeOver(ledger: LedgerStore, entry: LedgerEntry): Promise<void> {
  try {
    await LedgerWriter.continueAfter(ledger, entry).write('released', {
      reason: 'its owner is gone',
    });
  } catch (error) {
    if (!(error instanceof StepLost)) throw error;
  }
}
