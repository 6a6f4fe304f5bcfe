/** A time limit that ends with what it limits. */

export type Deadline = {
  readonly signal: AbortSignal;
  /** Lets go of the timer; the signal is never aborted after that. */
  clear(): void;
};

/**
 * Aborts after `ms` with a TimeoutError, as `AbortSignal.timeout` does, whose timer cannot be
 * cleared: it would hold everything that listens, 17 KiB a scan, until long after the scan is over.
 */
export function deadlineAfter(ms: number): Deadline {
  const controller = new AbortController();
  const expire = () =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(expire, ms).unref();
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
