import { ALL_GRADES, type Grade } from '../model/report.ts';

export type GradeRank = {
  /** Share of the listed origins that have a worse grade, rounded down. */
  readonly betterThanPercent: number;
  /** Number of listed origins, including this host. */
  readonly origins: number;
};

/** "Better than 64 % of 212 listed origins"; null while there is no other origin to compare with. */
export function findGradeRank(
  counts: Readonly<Record<Grade, number>>,
  own: Grade,
): GradeRank | null {
  const sum = (grades: readonly Grade[]) =>
    grades.reduce((total, grade) => total + counts[grade], 0);
  const origins = sum(ALL_GRADES);
  if (origins < 2) return null;
  const worse = sum(ALL_GRADES.slice(ALL_GRADES.indexOf(own) + 1));
  return { betterThanPercent: Math.floor((100 * worse) / origins), origins };
}
