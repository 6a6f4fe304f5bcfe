/** A count for each grade, none left out. */
import type { Grade } from '../../model/report.ts';

export function countsOf(count: (grade: Grade) => number): Readonly<Record<Grade, number>> {
  return { A: count('A'), B: count('B'), C: count('C'), D: count('D'), F: count('F') };
}
