/** The deadline of one stage of a scan. Time that our own queue takes does not count. */
type ScanDeadline = {
  readonly signal: AbortSignal;
  /** True if the stage ended before it had `ms` for itself, because our queue took more than `maxExtensionMs`. */
  isShortened(): boolean;
  /** Releases the timer. The signal is never aborted after that. */
  clear(): void;
};

type DeadlineExtension = {
  /** Time so far in which we delayed the stage. The deadline moves by as much. */
  readonly findDelayMs: () => number;
  /** The deadline moves by at most this much, because the whole scan has a limit too. */
  readonly maxExtensionMs: number;
};

const NO_EXTENSION: DeadlineExtension = { findDelayMs: () => 0, maxExtensionMs: 0 };

/**
 * Aborts after `ms` with a TimeoutError. The timer of `AbortSignal.timeout` cannot be cleared. It would hold
 * its listeners, 17 KiB a scan, long after the scan.
 */
export function createDeadline(
  ms: number,
  { findDelayMs, maxExtensionMs }: DeadlineExtension = NO_EXTENSION,
): ScanDeadline {
  const controller = new AbortController();
  const startedAt = performance.now();
  let isShortened = false;
  const expire = () => {
    const delayMs = findDelayMs();
    const usedMs = performance.now() - startedAt - delayMs;
    const leftMs = ms - usedMs - Math.max(0, delayMs - maxExtensionMs);
    // Timers may be early by less than a millisecond.
    if (delayMs > 0 && leftMs >= 1) {
      timer = setTimeout(expire, leftMs).unref();
      return;
    }
    isShortened = delayMs > maxExtensionMs && usedMs < ms;
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  };
  let timer = setTimeout(expire, ms).unref();
  return {
    signal: controller.signal,
    isShortened: () => isShortened,
    clear: () => clearTimeout(timer),
  };
}
