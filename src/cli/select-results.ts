import type { CheckResult } from '../model/report.ts';
import { UsageError } from './usage-error.ts';

/** Throws UsageError for a pattern of `--only` that matches no check: a typo must not pass a build. */
export function refuseUnknown(
  only: readonly string[] | null,
  checks: readonly { readonly id: string }[],
): void {
  const unknown = only?.find((pattern) => !checks.some(({ id }) => matches(id, pattern)));
  if (unknown === undefined) return;
  const ids = checks.map(({ id }) => id).join(', ');
  throw new UsageError(`--only ${unknown}: no such check; there are ${ids}`);
}

/** The results that `--only` selects, in the catalog's order. */
export function selectResults(
  results: readonly CheckResult[],
  only: readonly string[] | null,
): readonly CheckResult[] {
  if (only === null) return results;
  return results.filter(({ id }) => only.some((pattern) => matches(id, pattern)));
}

function matches(id: string, pattern: string): boolean {
  return pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern;
}
