/** Numbers of hosts by category and grade. */
import type { JsonValue } from '../../model/json.ts';
import { ALL_GRADES, type Grade } from '../../model/report.ts';
import { StoreError } from '../contract/store-error.ts';
import { gradeFromText } from '../shared/stored-json.ts';

export type HostGroup = { readonly category: string; readonly grade: Grade };

export class HostCounts {
  readonly #byCategory = new Map<string, Map<Grade, number>>();

  add({ category, grade }: HostGroup, n: number): void {
    const byGrade = this.#byCategory.get(category) ?? new Map<Grade, number>();
    byGrade.set(grade, (byGrade.get(grade) ?? 0) + n);
    this.#byCategory.set(category, byGrade);
  }

  /** What is left out counts whatever it is. */
  count({ category, grade }: { readonly category?: string | undefined; readonly grade?: Grade }) {
    let sum = 0;
    for (const [name, byGrade] of this.#byCategory) {
      if (category !== undefined && category !== name) continue;
      for (const one of ALL_GRADES) {
        if (grade === undefined || grade === one) sum += byGrade.get(one) ?? 0;
      }
    }
    return sum;
  }

  copy(): HostCounts {
    const copy = new HostCounts();
    for (const [category, byGrade] of this.#byCategory) {
      for (const [grade, n] of byGrade) copy.add({ category, grade }, n);
    }
    return copy;
  }

  toJSON(): JsonValue {
    return [...this.#byCategory].flatMap(([category, byGrade]) =>
      [...byGrade].map(([grade, n]) => [category, grade, n]),
    );
  }

  /** Adds what `toJSON` made. */
  read(groups: JsonValue): void {
    for (const group of Array.isArray(groups) ? groups : []) {
      const [category, grade, n] = Array.isArray(group) ? group : [];
      if (typeof category !== 'string' || typeof grade !== 'string' || typeof n !== 'number') {
        throw new StoreError('corrupt', 'a stored count is malformed; restore from a backup');
      }
      this.add({ category, grade: gradeFromText(grade) }, n);
    }
  }
}
