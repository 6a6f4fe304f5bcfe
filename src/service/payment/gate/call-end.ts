/** Ends a paid call whose client has disconnected, whose deadline has passed, or whose service stops. */
import { Saturated, ScanProcessing } from '../../errors/errors.ts';
import type { PaidCall } from '../paid-route.ts';

/** Thrown if the client disconnects, the deadline passes or the service stops. It ends this call, not its purchase. */
export class CallEnded extends Error {
  override readonly name = 'CallEnded';
  readonly reason: 'disconnected' | 'late' | 'stopping';

  constructor(reason: CallEnded['reason']) {
    super(`the call ended: ${reason}`);
    this.reason = reason;
  }
}

/** True if the client has disconnected, so that nobody can be answered. */
export function isDisconnect(error: unknown): boolean {
  return error instanceof CallEnded && error.reason === 'disconnected';
}

/** Turns the end of a call into the error that its client gets. Returns a disconnect, and every other error, as it is. */
export function toAnsweredError(error: unknown): unknown {
  if (!(error instanceof CallEnded) || isDisconnect(error)) return error;
  return error.reason === 'late' ? new ScanProcessing() : new Saturated();
}

export function throwIfEnded(call: PaidCall, stopping?: AbortSignal): void {
  if (call.disconnect.aborted) throw new CallEnded('disconnected');
  if (stopping?.aborted) throw new CallEnded('stopping');
  if (isLate(call)) throw new CallEnded('late');
}

export function isLate(call: PaidCall): boolean {
  return findLeftMs(call) === 0;
}

type DeadlineOptions = {
  /** Aborts when the service stops. */
  readonly stopping?: AbortSignal;
  /** Makes the error for a call past its deadline; default `CallEnded`. */
  readonly toLateError?: () => Error;
};

/**
 * Waits for work. Throws when the client disconnects, the deadline passes or the service stops. If the work ends at
 * the same moment, either may win. This is safe even if the work has settled the payment: the error does not deny that,
 * and the same payment, sent again, fetches the answer.
 */
export function withDeadline<T>(
  work: Promise<T>,
  call: PaidCall,
  { stopping, toLateError = () => new CallEnded('late') }: DeadlineOptions = {},
): Promise<T> {
  const end = Promise.withResolvers<never>();
  const onDisconnect = () => end.reject(new CallEnded('disconnected'));
  const onStop = () => end.reject(new CallEnded('stopping'));
  if (call.disconnect.aborted) onDisconnect();
  if (stopping?.aborted) onStop();
  call.disconnect.addEventListener('abort', onDisconnect, { once: true });
  stopping?.addEventListener('abort', onStop, { once: true });
  const timer = setTimeout(() => end.reject(toLateError()), findLeftMs(call));
  // `end` stands first, so a call that has already disconnected, or whose service stops, takes no result.
  return Promise.race([end.promise, work]).finally(() => {
    clearTimeout(timer);
    call.disconnect.removeEventListener('abort', onDisconnect);
    stopping?.removeEventListener('abort', onStop);
  });
}

function findLeftMs({ deadlineMs }: PaidCall): number {
  return Math.max(0, deadlineMs - performance.now());
}
