import { GRADES, type ScoreCost } from '../../engine/score.ts';
import type { CheckResult, Grade } from '../../model/report.ts';
import type { HistoryRow } from '../../store/directory.ts';
import { type Markup, markup } from './pictures.ts';

export type Waterfall = {
  readonly score: number;
  readonly grade: Grade;
  readonly costs: readonly ScoreCost[];
};

const WIDTH = 360;
const ROW = 24;
const BAR = { x: 78, width: 232, height: 14 } as const;
/** More steps would push the score off the screen; the last one stands for the others. */
const MAX_STEPS = 10;

/** The costs from 100 down to the score: "100, P3 −8, S5 −6 = 86". */
export function scoreWaterfall({ score, grade, costs }: Waterfall): Markup {
  let top = 100;
  const steps = shownSteps(costs).map(({ id, points }, index) => {
    top -= points;
    return stepRow({ index: index + 1, label: id, from: top, to: top + points, points });
  });
  const end = steps.length + 1;
  const start = markup`<text x="0" y="17">Start</text><rect x="${BAR.x}" y="5" width="${BAR.width}" height="${BAR.height}" class="start"/><text x="${BAR.x + BAR.width + 8}" y="17">100</text>`;
  const last = markup`<g transform="translate(0 ${end * ROW})"><text x="0" y="17" class="strong">Score</text><rect x="${BAR.x}" y="5" width="${toWidth(score)}" height="${BAR.height}" class="grade-${grade}"/><text x="${BAR.x + BAR.width + 8}" y="17" class="strong">${score} ${grade}</text></g>`;
  return markup`<svg class="picture waterfall" viewBox="0 0 ${WIDTH} ${(end + 1) * ROW}" role="img" aria-label="${waterfallText({ score, grade, costs })}">${start}${steps}${last}</svg>`;
}

/** "100, P3 −8, S5 −6 = 86"; findings that cost nothing are left out. */
export function waterfallText({ score, costs }: Waterfall): string {
  const terms = costs
    .filter(({ points }) => points > 0)
    .map(({ id, points }) => `${id} −${points}`);
  return `${['100', ...terms].join(', ')} = ${score}`;
}

function shownSteps(costs: readonly ScoreCost[]): readonly ScoreCost[] {
  const costly = costs.filter(({ points }) => points > 0);
  if (costly.length <= MAX_STEPS) return costly;
  const others = costly.slice(MAX_STEPS - 1);
  const points = others.reduce((sum, one) => sum + one.points, 0);
  return [...costly.slice(0, MAX_STEPS - 1), { id: `${others.length} more`, points }];
}

type Step = {
  readonly index: number;
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly points: number;
};

function stepRow({ index, label, from, to, points }: Step): Markup {
  return markup`<g transform="translate(0 ${index * ROW})"><text x="0" y="17">${label}</text><rect x="${BAR.x + toWidth(from)}" y="5" width="${toWidth(to) - toWidth(from)}" height="${BAR.height}" class="cost"/><text x="${BAR.x + BAR.width + 8}" y="17">−${points}</text></g>`;
}

function toWidth(score: number): number {
  return Math.round((BAR.width * score) / 100);
}

export type HistoryScan = Pick<HistoryRow, 'grade' | 'score' | 'scannedAtMs' | 'checksVersion'>;

const PLOT = { width: 600, top: 14, bottom: 154 } as const;
const SIZE = { width: 640, height: 180 } as const;

/** Scores over scans, oldest first; dashed if another catalog judged from there on. */
export function scoreHistory(scans: readonly HistoryScan[]): Markup {
  const step = scans.length > 1 ? PLOT.width / (scans.length - 1) : 0;
  const xOf = (index: number) => Math.round(10 + index * step);
  const rules = GRADES.map(
    ([grade, from]) =>
      markup`<line x1="0" y1="${yOf(from)}" x2="${PLOT.width + 20}" y2="${yOf(from)}" class="rule"/><text x="${SIZE.width - 14}" y="${yOf(from) + 5}" class="soft">${grade}</text>`,
  );
  const marks = scans.flatMap(({ checksVersion }, index) => {
    const before = scans[index - 1];
    if (before === undefined || before.checksVersion === checksVersion) return [];
    const x = Math.round(10 + (index - 0.5) * step);
    return [
      markup`<line x1="${x}" y1="4" x2="${x}" y2="${PLOT.bottom}" class="catalog"><title>checks ${checksVersion}</title></line>`,
    ];
  });
  const line = scans.map(({ score }, index) => `${xOf(index)},${yOf(score)}`).join(' ');
  const points = scans.map(
    (scan, index) =>
      markup`<circle cx="${xOf(index)}" cy="${yOf(scan.score)}" r="5" class="grade-${scan.grade}"/>`,
  );
  const [first, last] = [scans[0], scans.at(-1)];
  const text = `Scores of ${scans.length} scans, from ${first ? historyLine(first) : ''} to ${last ? historyLine(last) : ''}`;
  return markup`<svg class="picture history" viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="${text}">${rules}${marks}<polyline points="${line}"/>${points}<text x="4" y="${SIZE.height - 4}" class="soft">${dayOf(first)}</text><text x="${PLOT.width + 14}" y="${SIZE.height - 4}" class="soft end">${dayOf(last)}</text></svg>`;
}

/** "2026-09-01: B 86, checks 2026-08-14.2" */
function historyLine(scan: HistoryScan): string {
  return `${dayOf(scan)}: ${scan.grade} ${scan.score}, checks ${scan.checksVersion}`;
}

function dayOf(scan: HistoryScan | undefined): string {
  return scan === undefined ? '' : new Date(scan.scannedAtMs).toISOString().slice(0, 10);
}

function yOf(score: number): number {
  return Math.round(PLOT.bottom - ((PLOT.bottom - PLOT.top) * score) / 100);
}

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
  const text = `${label}. ${rows.map(({ time, cells }) => `${time}: ${toWords(cells)}`).join('; ')}`;
  return markup`<svg class="picture strip" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${text}">${ids}${lines}</svg>`;
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
