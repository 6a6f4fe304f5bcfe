import type { CheckStatistics } from '../../../directory/statistics.ts';
import { type Markup, markup } from './markup.ts';

const WIDTH = 200;
const HEIGHT = 14;
const STATES = ['pass', 'warn', 'fail', 'notDetermined'] as const;

/** The shares of a check's counts as one bar. It stands beside the numbers, which screen readers read. */
export function checkShares(check: CheckStatistics): Markup {
  const total = STATES.reduce((sum, state) => sum + check[state], 0);
  let x = 0;
  const parts = STATES.map((state) => {
    const width = total === 0 ? 0 : (WIDTH * check[state]) / total;
    const part = markup`<rect x="${toTenth(x)}" y="0" width="${toTenth(width)}" height="${HEIGHT}" class="share-${state}"/>`;
    x += width;
    return part;
  });
  return markup`<svg class="shares" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
