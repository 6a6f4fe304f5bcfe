import type { BudgetName } from '../model/report.ts';

/** Processor time that tasks of one scan have used, and may use. */
export type WorkAccount = {
  /** Sum over all accounts of the scan: the queue serves the scan that used least. */
  scanUsedMs(): number;
  leftMs(): number;
  isSpent(): boolean;
  charge(ms: number): void;
  /** Ends the budget, as where the scan ran out of time. */
  exhaust(): void;
  /** A task took longer than a first try: the next ones go to the slow threads at once. */
  markHeavy(): void;
  isHeavy(): boolean;
};

/**
 * The accounts of one scan. An origin's own documents and the data of third parties are paid for
 * apart, so that neither spoils the other.
 */
export type ScanAccount = Readonly<Record<BudgetName, WorkAccount>> & {
  /** The key of the scan in the caches of the workers. */
  readonly key: string;
  isLight(): boolean;
  /** The budgets that are used up. */
  exhausted(): readonly BudgetName[];
};

export type ScanBudgets = Readonly<Record<BudgetName, number>> & {
  /** A scan that used less is light. */
  readonly lightMs: number;
};

/** A budget with less left is spent: timers tell no shorter time. */
const REST_MS = 1;
const BUDGETS = ['origin', 'standing'] as const satisfies readonly BudgetName[];

/** `scale`: how many times as long this machine takes as the one that the budgets are of. */
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

/** For work that no scan asked for. */
export function openEndlessAccount(key: string): ScanAccount {
  return openScanAccount(key, { origin: Infinity, standing: Infinity, lightMs: Infinity });
}
