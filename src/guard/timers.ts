/**
 * A deadline that counts only time in which this thread could read an answer. A late timer fires before
 * the sockets are read, so after a second of blocked event loop it would call an origin silent that had
 * answered.
 */
export type PatientTimer = {
  /** Starts over with the same time. */
  restart(): void;
  cancel(): void;
};

/** Interval of the checks that the thread is awake; a stall costs a deadline at most this. */
const BEAT_MS = 250;

export function startPatientTimer(ms: number, onExpiry: () => void): PatientTimer {
  let leftMs = ms;
  let timer: NodeJS.Timeout | undefined;
  let reading: NodeJS.Immediate | undefined;
  const cancel = () => {
    clearTimeout(timer);
    clearImmediate(reading);
  };
  const wait = () => {
    const beatMs = Math.min(BEAT_MS, leftMs);
    timer = setTimeout(() => {
      leftMs -= beatMs;
      if (leftMs > 0) wait();
      // The event loop reads sockets before immediates, so data that has arrived is read first.
      else reading = setImmediate(onExpiry);
    }, beatMs);
  };
  wait();
  return {
    restart: () => {
      cancel();
      leftMs = ms;
      wait();
    },
    cancel,
  };
}

/** Milliseconds of processor time since an arbitrary start. */
export type ProcessorTime = () => number;

/**
 * Processor time of this thread in milliseconds. Node before 23.9 measures the whole process only, which
 * charges a scan too much, never too little.
 */
export const threadTime: ProcessorTime = () => {
  const { user, system } =
    typeof process.threadCpuUsage === 'function' ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
};
