export type Deadline = {
  readonly signal: AbortSignal;
  /** Releases the timer; the signal is never aborted after that. */
  clear(): void;
};

/**
 * Aborts after `ms` with a TimeoutError. The timer of `AbortSignal.timeout` cannot be cleared and would
 * hold its listeners, 17 KiB a scan, long after the scan.
 */
export function deadlineAfter(ms: number): Deadline {
  const controller = new AbortController();
  const expire = () =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(expire, ms).unref();
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
