import { ALL_GRADES, type Grade } from '../../../model/report.ts';
import { type Markup, markup } from './markup.ts';

export type GradeCounts = Readonly<Record<Grade, number>>;

const ROW = 30;
const BAR = { x: 34, width: 170, height: 20 } as const;
const WIDTH = 400;

/** A bar for each grade, with the number of listed origins; `own` marks the bar of one origin. */
export function gradeHistogram(counts: GradeCounts, own: Grade | null = null): Markup {
  const total = ALL_GRADES.reduce((sum, grade) => sum + counts[grade], 0);
  const most = Math.max(1, ...ALL_GRADES.map((grade) => counts[grade]));
  const rows = ALL_GRADES.map((grade, index) => {
    const y = index * ROW;
    const width = Math.round((BAR.width * counts[grade]) / most);
    const label = `${counts[grade]}, ${percent(counts[grade], total)} %`;
    const here = grade === own ? '◂ you are here' : '';
    return markup`<g transform="translate(0 ${y})"><text x="6" y="20" class="strong">${grade}</text><rect x="${BAR.x}" y="5" width="${width}" height="${BAR.height}" rx="3" class="grade-${grade}${grade === own ? ' own' : ''}"/><text x="${BAR.x + width + 8}" y="20">${label} <tspan class="strong">${here}</tspan></text></g>`;
  });
  const told = ALL_GRADES.map((grade) => `${grade} ${counts[grade]}`).join(', ');
  const mark = own === null ? '' : ` This origin has ${own}.`;
  return markup`<svg class="picture histogram" viewBox="0 0 ${WIDTH} ${ALL_GRADES.length * ROW}" role="img" aria-label="Grades of ${total} listed origins: ${told}.${mark}">${rows}</svg>`;
}

function percent(count: number, total: number): number {
  return total === 0 ? 0 : Math.round((100 * count) / total);
}
