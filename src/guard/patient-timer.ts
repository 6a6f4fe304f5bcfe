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
