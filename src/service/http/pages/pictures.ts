import { ALL_GRADES, type Grade } from '../../../scanner/model/report.ts';
import type { CheckStatistics } from '../../directory/statistics.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escaped markup. Templates print it as it is. */
export class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type MarkupValue = string | number | Markup | readonly Markup[];

/** Escapes strings and numbers, and inserts markup as it is. */
export function markup(literals: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  const text = literals.map((literal, index) => `${literal}${toText(values[index] ?? '')}`);
  return new Markup(text.join(''));
}

function toText(value: MarkupValue): string {
  if (value instanceof Markup) return value.toString();
  if (typeof value === 'object') return value.join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** In pixels: a square of a strip and the gap after it. */
export const CELL_SIZE = 24;
export const SQUARE_SIZE = CELL_SIZE - 2;
/** In pixels: from the top of a row of squares to the baseline of its text. */
export const BASELINE = 16;

const SHARE_BAR = { width: 200, height: 14 } as const;
const STATES = ['pass', 'warn', 'fail', 'notDetermined'] as const;

/** Draws the shares of a check's results as one bar. Screen readers read the numbers beside the bar instead. */
export function drawCheckShares(check: CheckStatistics): Markup {
  const parts = drawShares(
    STATES.map((state) => ({ state, count: check[state] })),
    SHARE_BAR,
  );
  return markup`<svg class="shares" viewBox="0 0 ${SHARE_BAR.width} ${SHARE_BAR.height}" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

type Share = { readonly state: (typeof STATES)[number]; readonly count: number };

/** Draws the shares from left to right in a bar of this size, in pixels. */
function drawShares(
  shares: readonly Share[],
  { width, height }: { readonly width: number; readonly height: number },
): readonly Markup[] {
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  let x = 0;
  return shares.map(({ state, count }) => {
    const shareWidth = total === 0 ? 0 : (width * count) / total;
    const part = markup`<rect x="${toTenth(x)}" y="0" width="${toTenth(shareWidth)}" height="${height}" class="share-${state}"/>`;
    x += shareWidth;
    return part;
  });
}

const DAY_BAR = { width: 420, height: 28, labelWidth: 210, labelHeight: 24, keySize: 12 } as const;

/** Draws one day as one bar, with a key of two columns that has counts and percentages. */
export function drawDayShares(
  title: string,
  shares: readonly (Share & { readonly label: string })[],
): Markup {
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  const texts = shares.map(({ label, count }) => `${label} ${count}, ${toPercent(count, total)} %`);
  const keys = shares.map(({ state }, index) => {
    const x = (index % 2) * DAY_BAR.labelWidth;
    const y = DAY_BAR.height + 10 + Math.floor(index / 2) * DAY_BAR.labelHeight;
    return markup`<rect x="${x}" y="${y}" width="${DAY_BAR.keySize}" height="${DAY_BAR.keySize}" class="share-${state}"/><text x="${x + DAY_BAR.keySize + 6}" y="${y + 11}">${texts[index] ?? ''}</text>`;
  });
  const height = DAY_BAR.height + 10 + Math.ceil(shares.length / 2) * DAY_BAR.labelHeight;
  return markup`<svg class="picture bars" viewBox="0 0 ${DAY_BAR.width} ${height}" role="img" aria-label="${title}: ${texts.join('; ')}">${drawShares(shares, DAY_BAR)}${keys}</svg>`;
}

function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

type CountRow = { readonly label: string; readonly count: number };

const ROW_HEIGHT = 30;
/** `width` is the width of the longest bar. */
const COUNT_BAR = { x: 150, width: 150, height: 18, pictureWidth: 420 } as const;

/** Draws a bar for each row, with its count and percentage; the longest bar has the highest count. */
export function drawCountBars(title: string, rows: readonly CountRow[]): Markup {
  const maxCount = Math.max(1, ...rows.map(({ count }) => count));
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  const toCountText = (count: number) => `${count}, ${toPercent(count, total)} %`;
  const bars = rows.map(({ label, count }, index) => {
    const y = index * ROW_HEIGHT;
    const width = Math.round((COUNT_BAR.width * count) / maxCount);
    return markup`<text x="0" y="${y + 19}">${label}</text><rect x="${COUNT_BAR.x}" y="${y + 5}" width="${width}" height="${COUNT_BAR.height}" rx="3" class="bar"/><text x="${COUNT_BAR.x + width + 8}" y="${y + 19}">${toCountText(count)}</text>`;
  });
  const text = rows.map(({ label, count }) => `${label} ${toCountText(count)}`).join('; ');
  return markup`<svg class="picture bars" viewBox="0 0 ${COUNT_BAR.pictureWidth} ${rows.length * ROW_HEIGHT}" role="img" aria-label="${title}: ${text}">${bars}</svg>`;
}

export type GradeCounts = Readonly<Record<Grade, number>>;

const GRADE_BAR = { x: 34, width: 170, height: 20, pictureWidth: 400 } as const;

/** Draws a bar for each grade, with the number of listed origins. The bar of `ownGrade` is marked. */
export function drawGradeHistogram(counts: GradeCounts, ownGrade: Grade | null = null): Markup {
  const total = ALL_GRADES.reduce((sum, grade) => sum + counts[grade], 0);
  const maxCount = Math.max(1, ...ALL_GRADES.map((grade) => counts[grade]));
  const rows = ALL_GRADES.map((grade, index) => {
    const y = index * ROW_HEIGHT;
    const width = Math.round((GRADE_BAR.width * counts[grade]) / maxCount);
    const label = `${counts[grade]}, ${toPercent(counts[grade], total)} %`;
    const pointer = grade === ownGrade ? '◂ this origin' : '';
    return markup`<g transform="translate(0 ${y})"><text x="6" y="20" class="strong">${grade}</text><rect x="${GRADE_BAR.x}" y="5" width="${width}" height="${GRADE_BAR.height}" rx="3" class="grade-${grade}${grade === ownGrade ? ' own' : ''}"/><text x="${GRADE_BAR.x + width + 8}" y="20">${label} <tspan class="strong">${pointer}</tspan></text></g>`;
  });
  const text = ALL_GRADES.map((grade) => `${grade} ${counts[grade]}`).join(', ');
  const ownText = ownGrade === null ? '' : ` This origin has ${ownGrade}.`;
  return markup`<svg class="picture histogram" viewBox="0 0 ${GRADE_BAR.pictureWidth} ${ALL_GRADES.length * ROW_HEIGHT}" role="img" aria-label="Grades of ${total} listed origins: ${text}.${ownText}">${rows}</svg>`;
}

/** Returns whole percent; 0 of a total of 0. */
export function toPercent(count: number, total: number): number {
  return total === 0 ? 0 : Math.round((100 * count) / total);
}

/** Dollars. 10 % of the sellers ask at most `p10`, half of them at most `p50`, and 90 % at most `p90`. */
type PriceRange = { readonly p10: number; readonly p50: number; readonly p90: number };

const PRICE_LINE = { left: 50, right: 350, y: 34, pictureWidth: 400 } as const;

/** Draws three prices on a logarithmic line, because most prices are cents and some are dollars. */
export function drawPriceRange({ p10, p50, p90 }: PriceRange): Markup {
  const start = Math.log(p10);
  const span = Math.log(p90) - start;
  const toX = (price: number) => {
    const share = span === 0 ? 0.5 : (Math.log(price) - start) / span;
    return Math.round(PRICE_LINE.left + share * (PRICE_LINE.right - PRICE_LINE.left));
  };
  // `y` is the baseline of the label's text.
  const labels = [
    { x: span === 0 ? PRICE_LINE.left : toX(p10), label: `10 %: $${p10}`, y: PRICE_LINE.y + 24 },
    { x: toX(p50), label: `Half: $${p50}`, y: PRICE_LINE.y - 14 },
    { x: span === 0 ? PRICE_LINE.right : toX(p90), label: `90 %: $${p90}`, y: PRICE_LINE.y + 24 },
  ];
  const marks = labels.map(
    ({ x, y, label }) =>
      markup`<circle cx="${x}" cy="${PRICE_LINE.y}" r="6" class="bar"/><text x="${x}" y="${y}" class="middle">${label}</text>`,
  );
  return markup`<svg class="picture bars" viewBox="0 0 ${PRICE_LINE.pictureWidth} 66" role="img" aria-label="10 % of the sellers ask at most $${p10}, half at most $${p50}, 90 % at most $${p90}"><line x1="${PRICE_LINE.left}" y1="${PRICE_LINE.y}" x2="${PRICE_LINE.right}" y2="${PRICE_LINE.y}" class="range"/>${marks}</svg>`;
}
