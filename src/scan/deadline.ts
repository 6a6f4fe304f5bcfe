/** A time limit that ends with what it limits. */

/**
 * Aborts after `ms` with a TimeoutError, as `AbortSignal.timeout` does, whose timer cannot be
 * cleared: it would hold everything that listens, 17 KiB a scan, until long after the scan is over.
 */
export function deadlineAfter(ms: number): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const expire = () =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(expire, ms).unref();
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
