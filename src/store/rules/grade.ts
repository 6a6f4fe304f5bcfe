import type { Grade } from '../../model/report.ts';
import { StoreError } from '../contract/store-error.ts';

const GRADES: readonly Grade[] = ['A', 'B', 'C', 'D', 'F'];

/** @throws StoreError `corrupt` */
export function gradeFromText(text: string): Grade {
  const grade = GRADES.find((known) => known === text);
  if (grade) return grade;
  throw new StoreError('corrupt', `a stored grade is "${text}"; restore the store from a backup`);
}
