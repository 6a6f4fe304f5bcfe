/**
 * A deadline that counts only time in which this thread could have seen an answer. A timer that
 * fires late fires before what has arrived meanwhile is read: a thread that was busy for a second
 * would call an origin silent that answered in it.
 */
export type PatientTimer = {
  /** Starts anew, with the same time. */
  restart(): void;
  cancel(): void;
};

/** How often the thread shows that it is awake: a stall costs a deadline no more than this. */
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
      // After timers the loop reads sockets, then runs immediates: what has come is read first.
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
