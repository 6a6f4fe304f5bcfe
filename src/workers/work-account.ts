import type { BudgetName } from '../model/report.ts';

/** Processor time that tasks of one scan have used, and may use. */
export type WorkAccount = {
  /** Sum over all accounts of the scan; the queue serves the scan with the lowest sum. */
  scanUsedMs(): number;
  leftMs(): number;
  isSpent(): boolean;
  charge(ms: number): void;
  /** Marks the budget as spent, such as at the end of the scan's time. */
  exhaust(): void;
  /** Called when a task exceeds a first try, so that later tasks go straight to the slow threads. */
  markHeavy(): void;
  isHeavy(): boolean;
};

/**
 * The accounts of one scan. Documents of the origin and data of third parties have separate budgets, so
 * that neither can use up the other's.
 */
export type ScanAccount = Readonly<Record<BudgetName, WorkAccount>> & {
  /** The key of the scan in the caches of the workers. */
  readonly key: string;
  isLight(): boolean;
  /** The budgets that are used up. */
  exhausted(): readonly BudgetName[];
};

export type ScanBudgets = Readonly<Record<BudgetName, number>> & {
  /** Scans that used less count as light. */
  readonly lightMs: number;
};

/** A budget with less left counts as spent, because timers measure no shorter time. */
const REST_MS = 1;
const BUDGETS = ['origin', 'standing'] as const satisfies readonly BudgetName[];

/** `scale`: slowness of this machine relative to the one that the budgets were measured on. */
export function openScanAccount(
  key: string,
  budgets: ScanBudgets,
  scale: () => number = () => 1,
): ScanAccount {
  let scanUsedMs = 0;
  const isLight = () => scanUsedMs < budgets.lightMs * scale();

  function account(budgetMs: number): WorkAccount {
    let usedMs = 0;
    let isExhausted = false;
    let heavy = false;
    const leftMs = () => (isExhausted ? 0 : budgetMs * scale() - usedMs);
    return {
      scanUsedMs: () => scanUsedMs,
      leftMs,
      isSpent: () => leftMs() < REST_MS,
      charge(ms) {
        usedMs += ms;
        scanUsedMs += ms;
      },
      exhaust() {
        isExhausted = true;
      },
      markHeavy() {
        heavy = true;
      },
      isHeavy: () => heavy,
    };
  }
  const accounts = { origin: account(budgets.origin), standing: account(budgets.standing) };
  return {
    key,
    ...accounts,
    isLight,
    exhausted: () => BUDGETS.filter((name) => accounts[name].isSpent()),
  };
}

/** An account for work outside scans. */
export function openEndlessAccount(key: string): ScanAccount {
  return openScanAccount(key, { origin: Infinity, standing: Infinity, lightMs: Infinity });
}
