import type { CheckResult } from '../../../model/report.ts';
import { type Markup, markup } from './markup.ts';

export type StripResult = Pick<CheckResult, 'id' | 'category' | 'status' | 'basis'>;

export type StripScan = {
  /** "12:00" */
  readonly time: string;
  readonly results: readonly StripResult[];
};

export type StripCategory = Pick<StripResult, 'category'> & { readonly label: string };

/** Each state has a mark beside its colour, so that the picture can be read without colours. */
const STATES = {
  pass: { mark: '✓', word: 'pass' },
  warn: { mark: '!', word: 'warn' },
  fail: { mark: '✗', word: 'fail' },
  unknown: { mark: '?', word: 'not determined' },
} as const;
type State = keyof typeof STATES;
const STATE_NAMES = Object.keys(STATES) as State[]; // the keys of a closed record

const CELL = 24;
const BOX = CELL - 2;
const LEFT = 44;
const HEAD = 16;

/** The results of one category in the scans of a day: a row a scan, a column a check. */
export function checkStrip(
  { category, label }: StripCategory,
  scans: readonly StripScan[],
): Markup {
  const rows = scans.map(({ time, results }) => ({
    time,
    cells: results
      .filter((result) => result.category === category)
      .map((result) => ({ id: result.id, state: stateOf(result) })),
  }));
  const columns = rows[0]?.cells ?? [];
  const width = LEFT + columns.length * CELL;
  const height = HEAD + rows.length * CELL;
  const ids = columns.map(
    ({ id }, at) => markup`<text x="${middle(at)}" y="11" class="soft id">${id}</text>`,
  );
  const lines = rows.map(({ time, cells }, row) => {
    const y = HEAD + row * CELL;
    const states = STATE_NAMES.map((state) => stripCells(state, cells, y));
    return markup`<text x="0" y="${y + 16}" class="soft">${time}</text>${states}`;
  });
  const told = `${label}. ${rows.map(({ time, cells }) => `${time}: ${toWords(cells)}`).join('; ')}`;
  return markup`<svg class="picture strip" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${told}">${ids}${lines}</svg>`;
}

type Cell = { readonly id: string; readonly state: State };

/** Draws all cells of one state in a row as one path and one text, which halves the markup. */
function stripCells(state: State, cells: readonly Cell[], y: number): Markup {
  const places = cells.flatMap((cell, at) => (cell.state === state ? [at] : []));
  if (places.length === 0) return markup``;
  const boxes = places.map((at) => `M${LEFT + at * CELL} ${y}h${BOX}v${BOX}h-${BOX}z`).join('');
  const middles = places.map(middle).join(' ');
  const marks = STATES[state].mark.repeat(places.length);
  return markup`<path d="${boxes}" class="cell-${state}"/><text x="${middles}" y="${y + 16}" class="mark-${state}">${marks}</text>`;
}

/** "6 pass, P4 fail, P6 warn" */
function toWords(cells: readonly Cell[]): string {
  const passed = cells.filter(({ state }) => state === 'pass').length;
  const others = cells.filter(({ state }) => state !== 'pass');
  return [`${passed} pass`, ...others.map(({ id, state }) => `${id} ${STATES[state].word}`)].join(
    ', ',
  );
}

function stateOf({ status, basis }: StripResult): State {
  return basis === 'not_determined' ? 'unknown' : status;
}

function middle(at: number): number {
  return LEFT + at * CELL + BOX / 2;
}
