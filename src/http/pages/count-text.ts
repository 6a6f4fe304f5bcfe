import type { Count } from '../../directory/suppress.ts';

/** A count that is hidden is one of few origins, or one that would tell such a count. */
export function countText(count: Count): string {
  return count === null ? 'too few to tell' : String(count);
}
