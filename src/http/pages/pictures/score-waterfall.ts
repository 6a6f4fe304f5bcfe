import type { ScoreCost } from '../../../engine/score.ts';
import type { Grade } from '../../../model/report.ts';
import { type Markup, markup } from './markup.ts';

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
