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
  /** Call it when a first try runs out of time. Later tasks of the account then go directly to the slow threads. */
  sendToSlowThreads(): void;
  needsSlowThreads(): boolean;
};

/**
 * The accounts of one scan. Documents of the origin and data of third parties have separate budgets. Neither side
 * can then use up the budget of the other.
 */
export type ScanAccount = Readonly<Record<BudgetName, WorkAccount>> & {
  /** The key of the scan in the caches of the workers. */
  readonly key: string;
  /** True if the scan has used so little processor time that, if it is late, our queue has delayed it. */
  isLight(): boolean;
  /** Finds the budgets that are spent. */
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
    };
  }
  const accounts = { origin: openAccount(budgets.origin), standing: openAccount(budgets.standing) };
  return {
    key,
    ...accounts,
    isLight,
    findExhausted: () => BUDGETS.filter((name) => accounts[name].isSpent()),
  };
}

/** Opens an account without limits, for replays and for work outside scans. */
export function openEndlessAccount(key: string): ScanAccount {
  return openScanAccount(key, { origin: Infinity, standing: Infinity, lightMs: Infinity });
}
