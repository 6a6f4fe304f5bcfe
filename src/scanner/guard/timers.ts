/**
 * A deadline that counts only time in which this thread could read an answer. After a blocked event loop,
 * an ordinary timer fires before the sockets are read. It would report a timeout although the origin has
 * answered.
 */
export type PatientTimer = {
  /** Starts again with the full time. */
  restart(): void;
  cancel(): void;
  /** Milliseconds since the start, without the time in which this thread was blocked. */
  elapsedMs(): number;
};

/** Time is counted in steps of this length, so a blocked thread loses at most one step. */
const STEP_MS = 250;
/** Timers of an idle thread are late by less than this. */
const USUAL_DELAY_MS = 50;

export function startPatientTimer(ms: number, onExpiry: () => void): PatientTimer {
  let remainingMs = ms;
  let startedAtMs = 0;
  let stepEndsAtMs = 0;
  let blockedMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Immediate | undefined;
  const cancel = () => {
    clearTimeout(timer);
    clearImmediate(expiry);
  };
  const findDelayMs = () => {
    const delayMs = performance.now() - stepEndsAtMs;
    return delayMs > USUAL_DELAY_MS ? delayMs : 0;
  };
  const wait = () => {
    const stepMs = Math.min(STEP_MS, remainingMs);
    stepEndsAtMs = performance.now() + stepMs;
    timer = setTimeout(() => {
      remainingMs -= stepMs;
      blockedMs += findDelayMs();
      if (remainingMs > 0) wait();
      // The event loop reads sockets before immediates, so data that has arrived is read first.
      else expiry = setImmediate(onExpiry);
    }, stepMs);
  };
  const restart = () => {
    cancel();
    remainingMs = ms;
    startedAtMs = performance.now();
    blockedMs = 0;
    wait();
  };
  restart();
  return {
    restart,
    cancel,
    // This thread may read a socket before the late timer of the current step runs.
    elapsedMs: () => performance.now() - startedAtMs - blockedMs - findDelayMs(),
  };
}

/** Returns milliseconds of processor time since an arbitrary start. */
export type ProcessorTime = () => number;

/**
 * Processor time of this thread in milliseconds. Node before 23.9 measures the whole process only, which
 * charges a scan too much, never too little.
 */
export const readThreadTime: ProcessorTime = () => {
  const { user, system } =
    typeof process.threadCpuUsage === 'function' ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
};
