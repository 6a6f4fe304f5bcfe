import type { CheckStatistics } from '../../directory/statistics.ts';
import { ALL_GRADES, type Grade } from '../../model/report.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is safe to print as markup; templates print it unescaped. */
export class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Value = string | number | Markup | readonly Markup[];

/** Builds markup. Strings and numbers are escaped, markup is kept as it is. */
export function markup(literals: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const text = literals.map((literal, index) => `${literal}${toText(values[index] ?? '')}`);
  return new Markup(text.join(''));
}

function toText(value: Value): string {
  if (value instanceof Markup) return value.toString();
  if (typeof value === 'object') return value.join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

const SHARES = { width: 200, height: 14 } as const;
const STATES = ['pass', 'warn', 'fail', 'notDetermined'] as const;

/** The shares of a check's counts as one bar. It stands beside the numbers, which screen readers read. */
export function checkShares(check: CheckStatistics): Markup {
  const total = STATES.reduce((sum, state) => sum + check[state], 0);
  let x = 0;
  const parts = STATES.map((state) => {
    const width = total === 0 ? 0 : (SHARES.width * check[state]) / total;
    const part = markup`<rect x="${toTenth(x)}" y="0" width="${toTenth(width)}" height="${SHARES.height}" class="share-${state}"/>`;
    x += width;
    return part;
  });
  return markup`<svg class="shares" viewBox="0 0 ${SHARES.width} ${SHARES.height}" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

export type CountRow = { readonly label: string; readonly count: number };

/** Height of a row of bars. */
const ROW = 30;
const COUNT_BAR = { x: 150, width: 150, height: 18, all: 420 } as const;

export function countBars(title: string, rows: readonly CountRow[]): Markup {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const bars = rows.map(({ label, count }, index) => {
    const y = index * ROW;
    const width = Math.round((COUNT_BAR.width * count) / most);
    return markup`<text x="0" y="${y + 19}">${label}</text><rect x="${COUNT_BAR.x}" y="${y + 5}" width="${width}" height="${COUNT_BAR.height}" rx="3" class="bar"/><text x="${COUNT_BAR.x + width + 8}" y="${y + 19}">${count}</text>`;
  });
  const text = rows.map(({ label, count }) => `${label} ${count}`).join(', ');
  return markup`<svg class="picture bars" viewBox="0 0 ${COUNT_BAR.all} ${rows.length * ROW}" role="img" aria-label="${title}: ${text}">${bars}</svg>`;
}

export type GradeCounts = Readonly<Record<Grade, number>>;

const GRADE_BAR = { x: 34, width: 170, height: 20, all: 400 } as const;

/** A bar for each grade, with the number of listed origins; `own` marks the bar of one origin. */
export function gradeHistogram(counts: GradeCounts, own: Grade | null = null): Markup {
  const total = ALL_GRADES.reduce((sum, grade) => sum + counts[grade], 0);
  const most = Math.max(1, ...ALL_GRADES.map((grade) => counts[grade]));
  const rows = ALL_GRADES.map((grade, index) => {
    const y = index * ROW;
    const width = Math.round((GRADE_BAR.width * counts[grade]) / most);
    const label = `${counts[grade]}, ${percent(counts[grade], total)} %`;
    const here = grade === own ? '◂ you are here' : '';
    return markup`<g transform="translate(0 ${y})"><text x="6" y="20" class="strong">${grade}</text><rect x="${GRADE_BAR.x}" y="5" width="${width}" height="${GRADE_BAR.height}" rx="3" class="grade-${grade}${grade === own ? ' own' : ''}"/><text x="${GRADE_BAR.x + width + 8}" y="20">${label} <tspan class="strong">${here}</tspan></text></g>`;
  });
  const text = ALL_GRADES.map((grade) => `${grade} ${counts[grade]}`).join(', ');
  const mark = own === null ? '' : ` This origin has ${own}.`;
  return markup`<svg class="picture histogram" viewBox="0 0 ${GRADE_BAR.all} ${ALL_GRADES.length * ROW}" role="img" aria-label="Grades of ${total} listed origins: ${text}.${mark}">${rows}</svg>`;
}

function percent(count: number, total: number): number {
  return total === 0 ? 0 : Math.round((100 * count) / total);
}

export type PriceRange = { readonly p10: number; readonly p50: number; readonly p90: number };

const LINE = { left: 50, right: 350, y: 34, width: 400 } as const;

/** Three prices on a logarithmic line: most prices are cents, some are dollars. */
export function priceRange({ p10, p50, p90 }: PriceRange): Markup {
  const from = Math.log(p10);
  const span = Math.log(p90) - from;
  const xOf = (price: number) =>
    Math.round(
      LINE.left + (span === 0 ? 0.5 : (Math.log(price) - from) / span) * (LINE.right - LINE.left),
    );
  const places = [
    { x: span === 0 ? LINE.left : xOf(p10), label: `10 %: $${p10}`, y: LINE.y + 24 },
    { x: xOf(p50), label: `half: $${p50}`, y: LINE.y - 14 },
    { x: span === 0 ? LINE.right : xOf(p90), label: `90 %: $${p90}`, y: LINE.y + 24 },
  ];
  const marks = places.map(
    ({ x, y, label }) =>
      markup`<circle cx="${x}" cy="${LINE.y}" r="6" class="bar"/><text x="${x}" y="${y}" class="middle">${label}</text>`,
  );
  return markup`<svg class="picture bars" viewBox="0 0 ${LINE.width} 66" role="img" aria-label="10 % of the sellers ask at most $${p10}, half at most $${p50}, 90 % at most $${p90}"><line x1="${LINE.left}" y1="${LINE.y}" x2="${LINE.right}" y2="${LINE.y}" class="range"/>${marks}</svg>`;
}
