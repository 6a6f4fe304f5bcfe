export type Count = number | null;

/** The fewest that are told: fewer could be recognised. */
const FEWEST = 5;

/** Null for a count of 1 to 4. */
export function shownCount(count: number): Count {
  return count > 0 && count < FEWEST ? null : count;
}

/**
 * The counts of a group whose sum may be known. One count of 1 to 4 alone would follow by subtraction, so the smallest
 * other one that is not 0 is null with it; of equals, the first.
 */
export function shownCounts<Name extends string>(
  counts: Readonly<Record<Name, number>>,
): Record<Name, Count> {
  const shown: Record<string, Count> = {};
  const told: [name: string, count: number][] = [];
  for (const [name, count] of Object.entries<number>(counts)) {
    shown[name] = shownCount(count);
    if (shown[name] !== null && count > 0) told.push([name, count]);
  }
  const hidden = Object.values(shown).filter((count) => count === null).length;
  const [smallest] = told.toSorted(([, a], [, b]) => a - b);
  if (hidden === 1 && smallest !== undefined) shown[smallest[0]] = null;
  // Every name of `counts` was given a count.
  return shown as Record<Name, Count>;
}
