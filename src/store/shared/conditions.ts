import type { Condition, Where } from './table.ts';

const OPERATORS = ['from', 'after', 'upTo', 'before', 'not', 'in'] as const;

export type Operator = 'equal' | (typeof OPERATORS)[number];

/** One comparison of a column with a value; with a list of values for `in`. */
export type Comparison = {
  readonly column: string;
  readonly operator: Operator;
  readonly value: unknown;
};

/** All comparisons that a row has to pass. */
export function comparisonsOf<R>(where: Where<R>): readonly Comparison[] {
  const columns: readonly (readonly [string, Condition<unknown> | undefined])[] =
    Object.entries(where);
  return columns.flatMap(([column, condition]): readonly Comparison[] => {
    if (condition === undefined) return [];
    if (condition === null || typeof condition !== 'object') {
      return [{ column, operator: 'equal', value: condition }];
    }
    const given: Readonly<Record<string, unknown>> = { ...condition };
    return OPERATORS.filter((operator) => given[operator] !== undefined).map((operator) => ({
      column,
      operator,
      value: given[operator],
    }));
  });
}
