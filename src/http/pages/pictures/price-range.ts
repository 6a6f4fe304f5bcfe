import { type Markup, markup } from './markup.ts';

export type PriceRange = { readonly p10: number; readonly p50: number; readonly p90: number };

const WIDTH = 400;
const LINE = { left: 50, right: 350, y: 34 } as const;

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
  return markup`<svg class="picture bars" viewBox="0 0 ${WIDTH} 66" role="img" aria-label="10 % of the sellers ask at most $${p10}, half at most $${p50}, 90 % at most $${p90}"><line x1="${LINE.left}" y1="${LINE.y}" x2="${LINE.right}" y2="${LINE.y}" class="range"/>${marks}</svg>`;
}
