/** When a pool looks for work: soon, or once the origin has had the pause that it asked for. */
export class PumpSchedule {
  readonly #pump: () => void;
  #isScheduled = false;
  #pause: NodeJS.Timeout | undefined;
  #pausedUntil = 0;

  constructor(pump: () => void) {
    this.#pump = pump;
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /** Later, never at once: callers may be inside a parser, which is not reentrant. */
  soon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  /** The longest of the pauses that are asked for counts. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    this.stop();
    this.#pause = setTimeout(
      () => {
        this.#pausedUntil = 0;
        this.soon();
      },
      Math.max(0, this.#pausedUntil - performance.now()),
    );
  }

  stop(): void {
    clearTimeout(this.#pause);
  }
}
