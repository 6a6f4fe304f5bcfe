/** Waits for other calls that work on a key, in this process or in another one. */
import { setTimeout as pause } from 'node:timers/promises';
import type { SettlementUnknown } from '../../errors/errors.ts';
import type { LedgerEntry, LedgerStore } from '../../store/ledger.ts';
import type { Store } from '../../store/store.ts';
import { findTransaction, isInDoubt, readPayment, toProgress } from '../ledger/ledger.ts';
import { LedgerWriter, StepLost } from '../ledger/ledger-writer.ts';
import { CallEnded, isLate, withDeadline } from './call-end.ts';
import type { GateDeps, PaidDelivery, Purchase, PurchaseOutcome } from './purchase.ts';
import type { PurchaseRun } from './purchase-run.ts';
import { findDelivery, refuseConflict } from './redelivery.ts';
import { createUnknownError, createUnpaidError, readReleaseError } from './refusals.ts';

/** Poll interval while another instance works on the key. */
const POLL_INTERVAL_MS = 200;

/** A purchase that this process works on now. */
type CallInFlight = {
  readonly purchase: Purchase;
  readonly run: Pick<PurchaseRun<never>, 'isSettling'>;
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
  start<Input>(purchase: Purchase, run: PurchaseRun<Input>): Promise<PurchaseOutcome> {
    const outcome = run.run().finally(() => this.#calls.delete(purchase.key));
    this.#calls.set(purchase.key, { purchase, run, outcome });
    return outcome;
  }

  async awaitAll(): Promise<void> {
    await Promise.allSettled([...this.#calls.values()].map(({ outcome }) => outcome));
  }
}

/** State of a key on which nobody works. */
type KeyState =
  | { readonly kind: 'free'; readonly entry: LedgerEntry | null }
  | { readonly kind: 'paid'; readonly delivery: PaidDelivery }
  /** The call that this one has waited for ended with this error, or the payment can never pay us. */
  | { readonly kind: 'refused'; readonly error: unknown };

/**
 * Waits until nobody works on a key. Throws if the purchase may not have what its own key bought, if the payment of the
 * key stays in doubt, and `CallEnded`.
 */
export async function awaitPayment(
  { deps, inFlight }: { readonly deps: GateDeps; readonly inFlight: InFlightCalls },
  key: string,
  purchase: Purchase,
): Promise<KeyState> {
  const { store } = deps;
  let wasBusy = false;
  for (;;) {
    if (purchase.call.disconnect.aborted) throw new CallEnded('disconnected');
    const running = inFlight.get(key);
    if (running !== undefined) {
      const outcome = await awaitCall(running, purchase);
      if (outcome.kind === 'unknown') throw outcome.error;
      if (outcome.kind !== 'abandoned') return outcome;
      continue;
    }
    const entry = await store.ledger.findEntry(key);
    if (entry === null) return { kind: 'free', entry };
    const state = await readKeyState(store, entry, purchase, wasBusy);
    if (state !== null) return state;
    await awaitStep(deps, entry, purchase);
    wasBusy = true;
  }
}

/** Returns null while a call works on the key, or while its payment is in doubt. */
async function readKeyState(
  store: Store,
  entry: LedgerEntry,
  purchase: Purchase,
  wasBusy: boolean,
): Promise<KeyState | null> {
  const { key, last } = entry;
  const progress = toProgress(last.state);
  if (progress === 'free') {
    // If this call found the key free at once, the stored error ended an earlier call, for which it did not wait.
    const error = wasBusy ? readReleaseError(last) : null;
    return error === null ? { kind: 'free', entry } : { kind: 'refused', error };
  }
  refuseConflict({ key, request: last.request, payment: readPayment(entry) }, purchase);
  switch (progress) {
    case 'paid':
      return { kind: 'paid', delivery: await findDelivery(store, entry, purchase) };
    case 'failed':
      return { kind: 'refused', error: createUnpaidError() };
    case 'working':
    case 'in_doubt':
      return null;
  }
}

/** Waits for another call of this process. */
async function awaitCall(
  { purchase, run, outcome }: CallInFlight,
  waiter: Purchase,
): Promise<PurchaseOutcome> {
  refuseConflict(purchase, waiter);
  return await withDeadline(outcome, waiter.call, {
    toLateError: () =>
      run.isSettling ? createUnknownError(purchase.payment, null) : new CallEnded('late'),
  });
}

/**
 * Makes one step for a key that no call of this process works on. Waits for the instance that works on the key, releases
 * the key, or lets the reconciler look up its payment. The caller must then read the key again.
 */
async function awaitStep(
  { store, reconciler, timing }: GateDeps,
  entry: LedgerEntry,
  { call }: Purchase,
): Promise<void> {
  const { owner, state } = entry.last;
  // While the payment is in doubt, the error of a late call must not promise that the call is uncharged.
  const toLateError = () => (isInDoubt(state) ? toDoubtError(entry) : new CallEnded('late'));
  if (isLate(call)) throw toLateError();
  const isOwnedByUs = owner.boot === store.info.owner.boot && owner.host === store.info.owner.host;
  const isOwnedByOther = !isOwnedByUs && (await store.instances.isAlive(owner));
  // Any instance may look up a payment in the state `unknown`, even while the owner of its last step lives.
  if (isOwnedByOther && state !== 'unknown') {
    // The other instance writes the end of its work to the ledger.
    await pause(POLL_INTERVAL_MS);
  } else if (isInDoubt(state)) {
    const ending = reconciler.awaitEnd(entry.key, timing.retryWithinMs);
    const latest = await withDeadline(ending, call, { toLateError });
    if (latest !== null && isInDoubt(latest.last.state)) throw toDoubtError(latest);
  } else {
    await releaseAbandoned(store.ledger, entry);
  }
}

function toDoubtError(entry: LedgerEntry): SettlementUnknown {
  return createUnknownError(readPayment(entry), findTransaction(entry));
}

/** Releases a key whose payment was not sent, because no process works on it any more. */
async function releaseAbandoned(ledger: LedgerStore, entry: LedgerEntry): Promise<void> {
  try {
    await LedgerWriter.continueAfter(ledger, entry).write('released', {
      reason: 'its owner is gone',
    });
  } catch (error) {
    if (!(error instanceof StepLost)) throw error;
  }
}
