import type { CheckStatistics } from '../../../directory/statistics.ts';
import { type Markup, markup } from './markup.ts';

const WIDTH = 200;
const HEIGHT = 14;
const STATES = ['pass', 'warn', 'fail', 'notDetermined'] as const;

/**
 * The shares of a check's counts as one bar; empty where a count is hidden. It stands beside the numbers, which
 * screen readers read.
 */
export function checkShares(check: CheckStatistics): Markup {
  const total = STATES.reduce((sum, state) => sum + (check[state] ?? 0), 0);
  const isKnown = total > 0 && STATES.every((state) => check[state] !== null);
  let x = 0;
  const parts = isKnown
    ? STATES.map((state) => {
        const width = (WIDTH * (check[state] ?? 0)) / total;
        const part = markup`<rect x="${toTenth(x)}" y="0" width="${toTenth(width)}" height="${HEIGHT}" class="share-${state}"/>`;
        x += width;
        return part;
      })
    : [];
  return markup`<svg class="shares" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
