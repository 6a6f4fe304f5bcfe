import { type Availability, DAY_LETTERS, type DayWord } from '../../model/availability.ts';
import { type Markup, markup } from './pictures.ts';

/** Each word has a mark beside its colour, so that the picture can be read without colours. */
const MARKS: Readonly<Record<DayWord, { readonly mark: string; readonly state: string }>> = {
  payable: { mark: '✓', state: 'pass' },
  not_payable: { mark: '✗', state: 'fail' },
  down: { mark: '!', state: 'warn' },
  not_checked: { mark: '·', state: 'unknown' },
};
const WORDS = Object.keys(MARKS) as DayWord[]; // the keys of a closed record
const NAMES: Readonly<Partial<Record<DayWord, string>>> = {
  not_payable: 'not payable',
  down: 'down',
};

const DAY_MS = 24 * 3_600_000;
const CELL = 24;
const BOX = CELL - 2;
/** More dates than these are only counted. */
const MAX_DATES = 8;
/** Two rows of 15 days fit on a phone. */
const COLUMNS = 15;
const LEFT = 50;

/**
 * A square for each day, today's last.
 * @param days letters of `Availability`
 */
export function dayStrip(days: string, nowMs: number): Markup {
  const rows = Math.ceil(days.length / COLUMNS);
  const width = LEFT + COLUMNS * CELL;
  const height = rows * CELL;
  const labels = Array.from({ length: rows }, (_, row) => {
    const date = dateOf(row * COLUMNS, days, nowMs).slice(5);
    return markup`<text x="0" y="${row * CELL + 16}" class="soft">${date}</text>`;
  });
  const squares = WORDS.map((word) => squaresOf(word, days));
  return markup`<svg class="picture strip days" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${dayList(days, nowMs)}">${labels}${squares}</svg>`;
}

/** Draws all squares of one word as one path and one text, which halves the markup. */
function squaresOf(word: DayWord, days: string): Markup {
  const { mark, state } = MARKS[word];
  const places = placesOf(word, days);
  if (places.length === 0) return markup``;
  const boxes = places.map((at) => `M${xOf(at)} ${yOf(at)}h${BOX}v${BOX}h-${BOX}z`).join('');
  const middles = places.map((at) => xOf(at) + BOX / 2).join(' ');
  const baselines = places.map((at) => yOf(at) + 16).join(' ');
  return markup`<path d="${boxes}" class="cell-${state}"/><text x="${middles}" y="${baselines}" class="mark-${state}">${mark.repeat(places.length)}</text>`;
}

/** "Payable on 27 of 29 days that were checked; not payable on 2026-08-20; down on 2026-08-21; not checked on 1." */
function dayList(days: string, nowMs: number): string {
  const payable = placesOf('payable', days).length;
  const unchecked = placesOf('not_checked', days).length;
  const dated = WORDS.flatMap((word) => {
    const dates = placesOf(word, days).map((at) => dateOf(at, days, nowMs));
    const name = NAMES[word];
    if (name === undefined || dates.length === 0) return [];
    const when = dates.length > MAX_DATES ? `${dates.length} days` : dates.join(', ');
    return [`; ${name} on ${when}`];
  });
  const checked = days.length - unchecked;
  return `Payable on ${payable} of ${checked} days that were checked${dated.join('')}; not checked on ${unchecked}.`;
}

/** "Payable on 29 of 30 days that were checked. Today: payable." */
export function daysText({ today, payableDays, checkedDays }: Availability): string {
  if (checkedDays === 0) return 'Not checked yet.';
  const days = checkedDays === 1 ? '1 day that was' : `${checkedDays} days that were`;
  const newest = today === null ? 'nothing new in 36 hours' : today.replace('_', ' ');
  return `Payable on ${payableDays} of ${days} checked. Today: ${newest}.`;
}

function placesOf(word: DayWord, days: string): readonly number[] {
  return Array.from(days).flatMap((letter, at) => (letter === DAY_LETTERS[word] ? [at] : []));
}

/** "2026-09-01" */
function dateOf(at: number, days: string, nowMs: number): string {
  return new Date(nowMs - (days.length - 1 - at) * DAY_MS).toISOString().slice(0, 10);
}

function xOf(at: number): number {
  return LEFT + (at % COLUMNS) * CELL;
}

function yOf(at: number): number {
  return Math.floor(at / COLUMNS) * CELL;
}
