import type { BudgetName } from '../model/report.ts';

/** A budget of processor time for tasks of one scan. */
export type WorkAccount = {
  /** Processor time that all accounts of the scan have used. The queue serves the scan with the lowest sum. */
  scanUsedMs(): number;
  remainingMs(): number;
  isSpent(): boolean;
  charge(ms: number): void;
  /** Marks the budget as spent, for example when the time of the scan is over. */
  exhaust(): void;
  /** To be called when the first try of a task runs out of time. Later tasks then go directly to the slow threads. */
  sendToSlowThreads(): void;
  needsSlowThreads(): boolean;
  /**
   * To be called when a task begins to wait for a thread. Returns the function that ends the wait. A second call of
   * that function does nothing.
   */
  startWait(): () => void;
};

/**
 * The accounts of one scan: `origin` for documents of the origin, `standing` for data of third parties. The budgets are
 * separate, so neither side can use up the budget of the other.
 */
export type ScanAccount = Readonly<Record<BudgetName, WorkAccount>> & {
  /** The key of the scan in the caches of the workers. */
  readonly key: string;
  /** True while the scan has used little processor time. If such a scan runs out of time, our queue has delayed it. */
  isLight(): boolean;
  /**
   * Elapsed time in which a task waited for a thread, if the scan was light when the wait began. Our queue, and not the
   * origin, took this time. A wait that has not ended counts until now. The whole wait counts, even if the scan's other
   * tasks use much time meanwhile. This can charge nobody: delays only move the deadlines of the scan, by some seconds,
   * or end the scan as our failure.
   */
  delayedMs(): number;
  findExhausted(): readonly BudgetName[];
};

export type ScanBudgets = Readonly<Record<BudgetName, number>> & {
  /** A scan is light while it has used less processor time than this. */
  readonly lightMs: number;
};

/** A budget with less time left counts as spent, because timers cannot measure a shorter time. */
const MIN_REMAINING_MS = 1;
const BUDGETS = ['origin', 'standing'] as const satisfies readonly BudgetName[];

/** @param scale factor on the budgets, which is greater on a slow machine */
export function openScanAccount(
  key: string,
  budgets: ScanBudgets,
  scale: () => number = () => 1,
): ScanAccount {
  let scanUsedMs = 0;
  const isLight = () => scanUsedMs < budgets.lightMs * scale();
  const waitClock = createWaitClock();

  function openAccount(budgetMs: number): WorkAccount {
    let usedMs = 0;
    let isExhausted = false;
    let isSentToSlow = false;
    const remainingMs = () => (isExhausted ? 0 : budgetMs * scale() - usedMs);
    return {
      scanUsedMs: () => scanUsedMs,
      remainingMs,
      isSpent: () => remainingMs() < MIN_REMAINING_MS,
      charge(ms) {
        usedMs += ms;
        scanUsedMs += ms;
      },
      exhaust() {
        isExhausted = true;
      },
      sendToSlowThreads() {
        isSentToSlow = true;
      },
      needsSlowThreads: () => isSentToSlow,
      // A scan that has used much time waits behind the others. The origin's documents are the cause of that wait.
      startWait: () => (isLight() ? waitClock.start() : () => undefined),
    };
  }
  const accounts = { origin: openAccount(budgets.origin), standing: openAccount(budgets.standing) };
  return {
    key,
    ...accounts,
    isLight,
    delayedMs: waitClock.elapsedMs,
    findExhausted: () => BUDGETS.filter((name) => accounts[name].isSpent()),
  };
}

/** Measures the time in which at least one task waits. */
function createWaitClock() {
  let waitingCount = 0;
  let sinceMs = 0;
  let totalMs = 0;
  return {
    start(): () => void {
      if (waitingCount === 0) sinceMs = performance.now();
      waitingCount += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        waitingCount -= 1;
        if (waitingCount === 0) totalMs += performance.now() - sinceMs;
      };
    },
    elapsedMs: () => totalMs + (waitingCount > 0 ? performance.now() - sinceMs : 0),
  };
}

/** Opens an account without limits: for a replay, which has a key, and for work outside scans. */
export function openEndlessAccount(key = ''): ScanAccount {
  return openScanAccount(key, { origin: Infinity, standing: Infinity, lightMs: Infinity });
}
