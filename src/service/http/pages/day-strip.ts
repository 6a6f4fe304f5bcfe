import { type Availability, DAY_LETTERS, type DayWord } from '../../../scanner/model/payability.ts';
import { BASELINE, CELL_SIZE, type Markup, markup, SQUARE_SIZE } from './pictures.ts';

/** Each word has a mark and a CSS class for its colour. With the mark, readers do not need the colour. */
const DAY_MARKS: Readonly<Record<DayWord, { readonly mark: string; readonly state: string }>> = {
  payable: { mark: '✓', state: 'pass' },
  not_payable: { mark: '✗', state: 'fail' },
  down: { mark: '!', state: 'warn' },
  not_checked: { mark: '·', state: 'unknown' },
};
const DAY_WORDS_IN_ORDER = Object.keys(DAY_MARKS) as DayWord[]; // the keys of a closed record
/** The words whose dates the text alternative lists. */
const DATED_WORDS: Readonly<Partial<Record<DayWord, string>>> = {
  not_payable: 'not payable',
  down: 'down',
};

const MS_PER_DAY = 24 * 3_600_000;
/** If a word has more dates, the text gives only their number. */
const MAX_LISTED_DATES = 8;
/** Two rows of 15 days fit on a phone. */
const DAYS_PER_ROW = 15;
/** In pixels: the width of the dates on the left. */
const LABEL_WIDTH = 50;

/** Draws a square for each letter of `days`, the member of `Availability`. The last square is today. */
export function drawDayStrip(days: string, nowMs: number): Markup {
  const rows = Math.ceil(days.length / DAYS_PER_ROW);
  const width = LABEL_WIDTH + DAYS_PER_ROW * CELL_SIZE;
  const height = rows * CELL_SIZE;
  const labels = Array.from({ length: rows }, (_, row) => {
    const monthAndDay = toDate(row * DAYS_PER_ROW, days, nowMs).slice(5);
    return markup`<text x="0" y="${row * CELL_SIZE + BASELINE}" class="soft">${monthAndDay}</text>`;
  });
  const squares = DAY_WORDS_IN_ORDER.map((word) => drawSquares(word, days));
  return markup`<svg class="picture strip days" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${describeStrip(days, nowMs)}">${labels}${squares}</svg>`;
}

/** In pixels: a small square, and the distance to the next one. */
const SMALL_SIZE = 5;
const SMALL_STEP = 6;
/** In pixels: heights of the small squares. With the heights, readers do not need the colour. */
const SMALL_HEIGHTS: Readonly<Record<DayWord, number>> = {
  payable: 12,
  not_payable: 6,
  down: 3,
  not_checked: 1,
};

/** Draws the days as one line of small squares, for rows of a list. `text` is what a screen reader says. */
export function drawDaySquares(days: string, text: string): Markup {
  const width = days.length * SMALL_STEP;
  const squares = DAY_WORDS_IN_ORDER.map((word) => {
    const height = SMALL_HEIGHTS[word];
    const path = findDays(word, days)
      .map((index) => `M${index * SMALL_STEP} 12v-${height}h${SMALL_SIZE}v${height}z`)
      .join('');
    return path === ''
      ? markup``
      : markup`<path d="${path}" class="cell-${DAY_MARKS[word].state}"/>`;
  });
  return markup`<svg class="squares" width="${width}" height="12" viewBox="0 0 ${width} 12" role="img" aria-label="${text}">${squares}</svg>`;
}

/** Draws all squares of one word as one path and one text, which halves the size of the markup. */
function drawSquares(word: DayWord, days: string): Markup {
  const { mark, state } = DAY_MARKS[word];
  const indexes = findDays(word, days);
  if (indexes.length === 0) return markup``;
  const squares = indexes
    .map((index) => `M${toX(index)} ${toY(index)}h${SQUARE_SIZE}v${SQUARE_SIZE}h-${SQUARE_SIZE}z`)
    .join('');
  const middles = indexes.map((index) => toX(index) + SQUARE_SIZE / 2).join(' ');
  const baselines = indexes.map((index) => toY(index) + BASELINE).join(' ');
  return markup`<path d="${squares}" class="cell-${state}"/><text x="${middles}" y="${baselines}" class="mark-${state}">${mark.repeat(indexes.length)}</text>`;
}

/** "Payable on 27 of 29 days that were checked; not payable on 2026-08-20; down on 2026-08-21; not checked on 1." */
function describeStrip(days: string, nowMs: number): string {
  const payable = findDays('payable', days).length;
  const unchecked = findDays('not_checked', days).length;
  const datedParts = DAY_WORDS_IN_ORDER.flatMap((word) => {
    const dates = findDays(word, days).map((index) => toDate(index, days, nowMs));
    const name = DATED_WORDS[word];
    if (name === undefined || dates.length === 0) return [];
    const dateText = dates.length > MAX_LISTED_DATES ? `${dates.length} days` : dates.join(', ');
    return [`; ${name} on ${dateText}`];
  });
  const checked = days.length - unchecked;
  return `Payable on ${payable} of ${checked} days that were checked${datedParts.join('')}; not checked on ${unchecked}.`;
}

/** "Payable on 29 of 30 days that were checked. Today: payable." */
export function describeDays({ today, payableDays, checkedDays }: Availability): string {
  if (checkedDays === 0) return 'Not checked yet.';
  const days = checkedDays === 1 ? '1 day that was' : `${checkedDays} days that were`;
  const todayText = today === null ? 'no result in 36 hours' : today.replace('_', ' ');
  return `Payable on ${payableDays} of ${days} checked. Today: ${todayText}.`;
}

function findDays(word: DayWord, days: string): readonly number[] {
  return Array.from(days).flatMap((letter, index) => (letter === DAY_LETTERS[word] ? [index] : []));
}

/** "2026-09-01" */
function toDate(index: number, days: string, nowMs: number): string {
  return new Date(nowMs - (days.length - 1 - index) * MS_PER_DAY).toISOString().slice(0, 10);
}

function toX(index: number): number {
  return LABEL_WIDTH + (index % DAYS_PER_ROW) * CELL_SIZE;
}

function toY(index: number): number {
  return Math.floor(index / DAYS_PER_ROW) * CELL_SIZE;
}
