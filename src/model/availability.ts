/** Words of the census. Each word says if somebody could pay a host on one day. */

export const DAY_WORDS = ['payable', 'not_payable', 'down', 'not_checked'] as const;
/** A host has one word for each UTC day. */
export type DayWord = (typeof DAY_WORDS)[number];

/** Letter of each word. A day without a word has the letter of `not_checked`. */
export const DAY_LETTERS: Readonly<Record<DayWord, string>> = {
  payable: 'p',
  not_payable: 'n',
  down: 'd',
  not_checked: '-',
};

/** Number of days that a record shows. */
export const SHOWN_DAYS = 30;

export type Availability = {
  /** The newest word of the last 36 hours; null if there is none. */
  readonly today: DayWord | null;
  readonly payableDays: number;
  /** Days with a word other than `not_checked`. */
  readonly checkedDays: number;
  /** 30 letters, newest last: `p` payable, `n` not payable, `d` down, `-` not checked or not yet. */
  readonly days: string;
};

/** The side that paid for a published scan: a payer, or the operator's census. */
export const PAID_BY = ['payer', 'census'] as const;
export type PaidBy = (typeof PAID_BY)[number];

/**
 * `today`: the newest word of the last 36 hours is `payable`. `week`: at least 3 of the last 7 days were checked, and
 * at least six sevenths of the checked days were payable.
 */
export const PAYABLE_FILTERS = ['today', 'week'] as const;
export type PayableFilter = (typeof PAYABLE_FILTERS)[number];
