/** Statements that a piece of work sends to the embedded store. */
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { vi } from 'vitest';

/** Cost of one piece of work for the embedded store. */
export type StoreCost = {
  readonly statements: number;
  /** Rows that the statements gave back. */
  readonly rows: number;
  readonly sql: ReadonlySet<string>;
};

/** Counts every statement that runs in this process meanwhile: nothing else may use SQLite. */
export async function measureStoreCost(work: () => Promise<unknown>): Promise<StoreCost> {
  const sql = new Set<string>();
  let statements = 0;
  let rows = 0;
  const spies = (['get', 'all', 'run'] as const).map((name) => {
    const original = StatementSync.prototype[name];
    const counted = function counted(this: StatementSync, ...values: never[]) {
      const result: unknown = Reflect.apply(original, this, values);
      sql.add(this.sourceSQL);
      statements += 1;
      rows += Array.isArray(result) ? result.length : name === 'get' && result ? 1 : 0;
      return result;
    };
    // The three differ in what they give back; each passes on what its original gave.
    return vi.spyOn(StatementSync.prototype, name).mockImplementation(counted as never);
  });
  try {
    await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return { statements, rows, sql };
}

/** The steps of these statements' plans that read a table, or an index, from end to end. */
export function findFullScans(file: string, sql: Iterable<string>): readonly string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return [...sql].flatMap((statement) =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${statement}`)
        .all()
        .map(({ detail }) => String(detail))
        .filter((detail) => /^SCAN (?!CONSTANT ROW|\(|json_each)/.test(detail))
        .map((detail) => `${detail}: ${statement}`),
    );
  } finally {
    database.close();
  }
}
