import type { SuiteOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** What the machine lacks; `npm test` prints it for a skipped suite. */
    lacks?: string;
  }
}

/**
 * Suite options for tests that stand on a part which not every machine has:
 * `describe('…', needs(chainUnavailable()), () => {…})` runs where the reason is null.
 */
export function needs(lack: string | null): SuiteOptions {
  return lack === null ? {} : { skip: true, meta: { lacks: lack } };
}
