import { GRADES, type ScoreCost } from '../../../scanner/engine/score.ts';
import type { CheckResult, Grade } from '../../../scanner/model/report.ts';
import type { HistoryRow } from '../../store/directory.ts';
import { BASELINE, CELL_SIZE, type Markup, markup, SQUARE_SIZE } from './pictures.ts';

type Waterfall = {
  readonly score: number;
  readonly grade: Grade;
  readonly costs: readonly ScoreCost[];
};

const PICTURE_WIDTH = 360;
const ROW_HEIGHT = 24;
const BAR = { x: 78, width: 232, height: 14 } as const;
/** If there are more costs, the last step shows the sum of the others, so that the picture fits on the screen. */
const MAX_STEPS = 10;

/** Draws a bar for each cost, from 100 points down to the score. */
export function drawWaterfall({ score, grade, costs }: Waterfall): Markup {
  let top = 100;
  const steps = limitSteps(costs).map(({ id, points }, index) => {
    top -= points;
    return drawStep({ index: index + 1, label: id, from: top, to: top + points, points });
  });
  const scoreRow = steps.length + 1;
  const start = markup`<text x="0" y="17">Start</text><rect x="${BAR.x}" y="5" width="${BAR.width}" height="${BAR.height}" class="start"/><text x="${BAR.x + BAR.width + 8}" y="17">100</text>`;
  const end = markup`<g transform="translate(0 ${scoreRow * ROW_HEIGHT})"><text x="0" y="17" class="strong">Score</text><rect x="${BAR.x}" y="5" width="${toWidth(score)}" height="${BAR.height}" class="grade-${grade}"/><text x="${BAR.x + BAR.width + 8}" y="17" class="strong">${score} ${grade}</text></g>`;
  return markup`<svg class="picture waterfall" viewBox="0 0 ${PICTURE_WIDTH} ${(scoreRow + 1) * ROW_HEIGHT}" role="img" aria-label="${writeWaterfall({ score, grade, costs })}">${start}${steps}${end}</svg>`;
}

/** "100, P3 −8, S5 −6 = 86". Findings that cost nothing are left out. */
export function writeWaterfall({ score, costs }: Waterfall): string {
  const terms = costs
    .filter(({ points }) => points > 0)
    .map(({ id, points }) => `${id} −${points}`);
  return `${['100', ...terms].join(', ')} = ${score}`;
}

function limitSteps(costs: readonly ScoreCost[]): readonly ScoreCost[] {
  const costly = costs.filter(({ points }) => points > 0);
  if (costly.length <= MAX_STEPS) return costly;
  const others = costly.slice(MAX_STEPS - 1);
  const points = others.reduce((sum, cost) => sum + cost.points, 0);
  return [...costly.slice(0, MAX_STEPS - 1), { id: `${others.length} more`, points }];
}

type WaterfallStep = {
  /** Row of the step; 0 is the row "Start". */
  readonly index: number;
  readonly label: string;
  /** The score after and before this cost: the ends of the bar. */
  readonly from: number;
  readonly to: number;
  readonly points: number;
};

function drawStep({ index, label, from, to, points }: WaterfallStep): Markup {
  return markup`<g transform="translate(0 ${index * ROW_HEIGHT})"><text x="0" y="17">${label}</text><rect x="${BAR.x + toWidth(from)}" y="5" width="${toWidth(to) - toWidth(from)}" height="${BAR.height}" class="cost"/><text x="${BAR.x + BAR.width + 8}" y="17">−${points}</text></g>`;
}

function toWidth(score: number): number {
  return Math.round((BAR.width * score) / 100);
}

type HistoryScan = Pick<HistoryRow, 'grade' | 'score' | 'scannedAtMs' | 'checksVersion'>;

const PLOT = { left: 10, width: 600, top: 14, bottom: 154 } as const;
const HISTORY_SIZE = { width: 640, height: 180 } as const;

/** Draws the score of each scan, oldest first. A dashed line marks a change of the catalog. */
export function drawScoreHistory(scans: readonly HistoryScan[]): Markup {
  const step = scans.length > 1 ? PLOT.width / (scans.length - 1) : 0;
  const toX = (index: number) => Math.round(PLOT.left + index * step);
  const gradeLines = GRADES.map(
    ([grade, minScore]) =>
      markup`<line x1="0" y1="${toY(minScore)}" x2="${PLOT.width + 20}" y2="${toY(minScore)}" class="rule"/><text x="${HISTORY_SIZE.width - 14}" y="${toY(minScore) + 5}" class="soft">${grade}</text>`,
  );
  const catalogLines = scans.flatMap(({ checksVersion }, index) => {
    const previous = scans[index - 1];
    if (previous === undefined || previous.checksVersion === checksVersion) return [];
    const x = Math.round(PLOT.left + (index - 0.5) * step);
    return [
      markup`<line x1="${x}" y1="4" x2="${x}" y2="${PLOT.bottom}" class="catalog"><title>checks ${checksVersion}</title></line>`,
    ];
  });
  const line = scans.map(({ score }, index) => `${toX(index)},${toY(score)}`).join(' ');
  const points = scans.map(
    (scan, index) =>
      markup`<circle cx="${toX(index)}" cy="${toY(scan.score)}" r="5" class="grade-${scan.grade}"/>`,
  );
  const [first, last] = [scans[0], scans.at(-1)];
  const text = `Scores of ${scans.length} scans, from ${first ? describeScan(first) : ''} to ${last ? describeScan(last) : ''}`;
  return markup`<svg class="picture history" viewBox="0 0 ${HISTORY_SIZE.width} ${HISTORY_SIZE.height}" role="img" aria-label="${text}">${gradeLines}${catalogLines}<polyline points="${line}"/>${points}<text x="4" y="${HISTORY_SIZE.height - 4}" class="soft">${toDay(first)}</text><text x="${PLOT.width + 14}" y="${HISTORY_SIZE.height - 4}" class="soft end">${toDay(last)}</text></svg>`;
}

/** "2026-09-01: B 86, checks 2026-08-14.2" */
function describeScan(scan: HistoryScan): string {
  return `${toDay(scan)}: ${scan.grade} ${scan.score}, checks ${scan.checksVersion}`;
}

function toDay(scan: HistoryScan | undefined): string {
  return scan === undefined ? '' : new Date(scan.scannedAtMs).toISOString().slice(0, 10);
}

function toY(score: number): number {
  return Math.round(PLOT.bottom - ((PLOT.bottom - PLOT.top) * score) / 100);
}

type StripResult = Pick<CheckResult, 'id' | 'category' | 'status' | 'basis'>;

type StripScan = {
  /** "12:00" */
  readonly time: string;
  readonly results: readonly StripResult[];
};

type StripCategory = Pick<StripResult, 'category'> & { readonly label: string };

/** Each state has a mark besides its colour. With the mark, readers do not need the colour. */
const STATES = {
  pass: { mark: '✓', word: 'pass' },
  warn: { mark: '!', word: 'warn' },
  fail: { mark: '✗', word: 'fail' },
  unknown: { mark: '?', word: 'not determined' },
} as const;
type CellState = keyof typeof STATES;
const STATE_NAMES = Object.keys(STATES) as CellState[]; // the keys of a closed record

/** In pixels: the width of the times on the left. */
const TIME_WIDTH = 44;
/** In pixels: the height of the check ids at the top. */
const HEAD_HEIGHT = 16;

/** Draws the results of one category in the scans of a day: each row is a scan, each column a check. */
export function drawCheckStrip(
  { category, label }: StripCategory,
  scans: readonly StripScan[],
): Markup {
  const rows = scans.map(({ time, results }) => ({
    time,
    cells: results
      .filter((result) => result.category === category)
      .map((result) => ({ id: result.id, state: toState(result) })),
  }));
  const columns = rows[0]?.cells ?? [];
  const width = TIME_WIDTH + columns.length * CELL_SIZE;
  const height = HEAD_HEIGHT + rows.length * CELL_SIZE;
  const ids = columns.map(
    ({ id }, column) => markup`<text x="${toMiddle(column)}" y="11" class="soft id">${id}</text>`,
  );
  const lines = rows.map(({ time, cells }, row) => {
    const y = HEAD_HEIGHT + row * CELL_SIZE;
    const states = STATE_NAMES.map((state) => drawCells(state, cells, y));
    return markup`<text x="0" y="${y + BASELINE}" class="soft">${time}</text>${states}`;
  });
  const text = `${label}. ${rows.map(({ time, cells }) => `${time}: ${describeCells(cells)}`).join('; ')}`;
  return markup`<svg class="picture strip" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${text}">${ids}${lines}</svg>`;
}

type Cell = { readonly id: string; readonly state: CellState };

/** Draws all cells of one state in a row as one path and one text, which halves the size of the markup. */
function drawCells(state: CellState, cells: readonly Cell[], y: number): Markup {
  const columns = cells.flatMap((cell, column) => (cell.state === state ? [column] : []));
  if (columns.length === 0) return markup``;
  const squares = columns
    .map((column) => TIME_WIDTH + column * CELL_SIZE)
    .map((x) => `M${x} ${y}h${SQUARE_SIZE}v${SQUARE_SIZE}h-${SQUARE_SIZE}z`)
    .join('');
  const middles = columns.map(toMiddle).join(' ');
  const marks = STATES[state].mark.repeat(columns.length);
  return markup`<path d="${squares}" class="cell-${state}"/><text x="${middles}" y="${y + BASELINE}" class="mark-${state}">${marks}</text>`;
}

/** "6 pass, P4 fail, P6 warn" */
function describeCells(cells: readonly Cell[]): string {
  const passed = cells.filter(({ state }) => state === 'pass').length;
  const others = cells.filter(({ state }) => state !== 'pass');
  return [`${passed} pass`, ...others.map(({ id, state }) => `${id} ${STATES[state].word}`)].join(
    ', ',
  );
}

function toState({ status, basis }: StripResult): CellState {
  return basis === 'not_determined' ? 'unknown' : status;
}

function toMiddle(column: number): number {
  return TIME_WIDTH + column * CELL_SIZE + SQUARE_SIZE / 2;
}
