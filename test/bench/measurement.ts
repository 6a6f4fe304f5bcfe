/** One number, as the table and the JSON show it. */
export type Measurement = {
  readonly what: string;
  readonly value: number;
  /** "scans/s", "ms", "bytes", "x" (a ratio within this run) … */
  readonly unit: string;
  /** The bound, or the conditions of the measurement. */
  readonly note?: string;
};

export type Effort = {
  /** Sizes that show that a case runs, and nothing else. */
  readonly isQuick: boolean;
  /** Sizes of the directory, for the case that reads it; its own if left out. */
  readonly hosts?: readonly number[] | undefined;
  /** The kind of store, for the case that compares lists of the directory. */
  readonly store?: 'sqlite' | 'mongodb' | undefined;
};

/** Default export of every file in `cases/`. */
export type BenchCase = (effort: Effort) => Promise<readonly Measurement[]>;

export function table(rows: readonly Measurement[]): string {
  const cells = rows.map(({ what, value, unit, note = '' }) => [what, shown(value), unit, note]);
  const widths = [0, 1, 2].map((column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  return cells
    .map(([what = '', value = '', unit = '', note = '']) =>
      [
        what.padEnd(widths[0] ?? 0),
        value.padStart(widths[1] ?? 0),
        unit.padEnd(widths[2] ?? 0),
        note,
      ]
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Three digits that say something, and no more. */
function shown(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-GB');
  return String(Number(value.toPrecision(3)));
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100));
  const value = sorted[index];
  if (value === undefined) throw new Error('nothing was measured');
  return value;
}
