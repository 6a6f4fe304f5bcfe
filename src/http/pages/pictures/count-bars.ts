import { type Markup, markup } from './markup.ts';

export type CountRow = { readonly label: string; readonly count: number };

const WIDTH = 420;
const ROW = 30;
const BAR = { x: 150, width: 150, height: 18 } as const;

export function countBars(title: string, rows: readonly CountRow[]): Markup {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const bars = rows.map(({ label, count }, index) => {
    const y = index * ROW;
    const width = Math.round((BAR.width * count) / most);
    return markup`<text x="0" y="${y + 19}">${label}</text><rect x="${BAR.x}" y="${y + 5}" width="${width}" height="${BAR.height}" rx="3" class="bar"/><text x="${BAR.x + width + 8}" y="${y + 19}">${count}</text>`;
  });
  const told = rows.map(({ label, count }) => `${label} ${count}`).join(', ');
  return markup`<svg class="picture bars" viewBox="0 0 ${WIDTH} ${rows.length * ROW}" role="img" aria-label="${title}: ${told}">${bars}</svg>`;
}
