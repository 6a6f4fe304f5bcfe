/** The result of each check on each recorded origin, per catalog. A change of a rule or parser shows here. */
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import type { CheckResult } from '../../src/scanner/model/report.ts';

const texts = Type.Record(Type.String(), Type.String());
const Table = Type.Object({
  /** Digest of each recording: if it changes, its cells may move. */
  recordings: texts,
  /** Keys are catalog, impl and origin. A value is "fail no-h1". */
  cells: Type.Record(Type.String(), Type.Record(Type.String(), texts)),
});

export type GoldenTable = Type.Static<typeof Table>;

export type TableChange = {
  readonly catalog: string;
  readonly impl: string;
  readonly origin: string;
  /** Absent if the cell is new. */
  readonly was?: string;
  /** Absent if the cell is gone. */
  readonly is?: string;
};

export function parseTable(text: string): GoldenTable {
  return Value.Parse(Table, JSON.parse(text));
}

export function cellOf({ status, basis, outcome }: CheckResult): string {
  return basis === 'measured' ? `${status} ${outcome}` : `${status} ${outcome} (${basis})`;
}

export function tableChanges(golden: GoldenTable, now: GoldenTable): readonly TableChange[] {
  const [before, after] = [flat(golden), flat(now)];
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].flatMap((key) => {
    const [old, fresh] = [before.get(key), after.get(key)];
    if (old?.value === fresh?.value) return [];
    const { catalog, impl, origin } = (old ?? fresh) as Cell; // one of the two has the key
    return [
      {
        catalog,
        impl,
        origin,
        ...(old ? { was: old.value } : {}),
        ...(fresh ? { is: fresh.value } : {}),
      },
    ];
  });
}

/**
 * Changes that no switch may write: a published implementation gives another result for the same
 * recording.
 */
export function forbiddenChanges(
  golden: GoldenTable,
  now: GoldenTable,
  isPublished: (catalog: string, impl: string) => boolean,
): readonly TableChange[] {
  return tableChanges(golden, now).filter(({ catalog, impl, origin, was, is }) => {
    const sameRecording = golden.recordings[origin] === now.recordings[origin];
    return was !== undefined && is !== undefined && sameRecording && isPublished(catalog, impl);
  });
}

/** One line for each change, with its remedy. */
export function explainChanges(changes: readonly TableChange[]): string {
  return changes
    .map(({ catalog, impl, origin, was, is }) => {
      const cell = `${catalog} ${impl} on ${origin}`;
      if (was === undefined) return `${cell}: new cell "${is}"; run with UPDATE_GOLDEN=1`;
      if (is === undefined) return `${cell}: "${was}" is gone; run with UPDATE_GOLDEN=1`;
      const [id] = impl.split('@');
      return `${cell}: "${was}" -> "${is}" without a new version; undo it, or npm run check:revise -- ${id}`;
    })
    .join('\n');
}

type Cell = {
  readonly catalog: string;
  readonly impl: string;
  readonly origin: string;
  readonly value: string;
};

function flat({ cells }: GoldenTable): ReadonlyMap<string, Cell> {
  const all = Object.entries(cells).flatMap(([catalog, impls]) =>
    Object.entries(impls).flatMap(([impl, origins]) =>
      Object.entries(origins).map(([origin, value]) => ({ catalog, impl, origin, value })),
    ),
  );
  return new Map(all.map((cell) => [`${cell.catalog} ${cell.impl} ${cell.origin}`, cell]));
}
