import { Saturated, ScanProcessing } from '../errors/errors.ts';
import { ClientGone, type PaidCall } from './paid-call.ts';

/** Milliseconds that a call may still wait; never negative. */
export function leftMs({ deadlineMs }: PaidCall): number {
  return Math.max(0, deadlineMs - performance.now());
}

/** Whatever ends a call before its work is done. */
export function throwIfOver(call: PaidCall, stopping?: AbortSignal): void {
  if (call.gone.aborted) throw new ClientGone();
  if (stopping?.aborted) throw new Saturated();
  if (leftMs(call) === 0) throw new ScanProcessing();
}

/**
 * Waits for work while its caller does: rejects with `ClientGone`, with `atDeadline` (504 by
 * default), or, where the service stops, with `Saturated`. The work itself goes on.
 */
export function until<T>(
  work: Promise<T>,
  call: PaidCall,
  {
    stopping,
    atDeadline = () => new ScanProcessing(),
  }: { readonly stopping?: AbortSignal; readonly atDeadline?: () => Error } = {},
): Promise<T> {
  const over = Promise.withResolvers<never>();
  const onGone = () => over.reject(new ClientGone());
  const onStop = () => over.reject(new Saturated());
  if (call.gone.aborted) onGone();
  if (stopping?.aborted) onStop();
  call.gone.addEventListener('abort', onGone, { once: true });
  stopping?.addEventListener('abort', onStop, { once: true });
  const timer = setTimeout(() => over.reject(atDeadline()), leftMs(call));
  return Promise.race([work, over.promise]).finally(() => {
    clearTimeout(timer);
    call.gone.removeEventListener('abort', onGone);
    stopping?.removeEventListener('abort', onStop);
  });
}
