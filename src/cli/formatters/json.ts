/** Writes the same report as the service. */
import type { Printable } from './printable.ts';
import { toPrintedJson } from './workflow-commands.ts';

export function formatJson({ report, printed, timing }: Printable): string {
  const { origin, grade, score, subScores, checksVersion, scannedAt, exhausted } = report;
  const { payableBy, payability, clients, otherWays, advice, routes, indexed } = report;
  const shown = {
    origin,
    grade,
    score,
    subScores,
    cache: 'miss',
    checksVersion,
    scannedAt,
    ...(exhausted ? { exhausted } : {}),
    payableBy,
    payability,
    clients,
    otherWays,
    advice,
    routes,
    indexed,
    results: printed,
    ...(timing === null ? {} : { timing: rounded(timing) }),
  };
  return toPrintedJson(shown);
}

function rounded(timing: NonNullable<Printable['timing']>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(timing).map(([name, value]) => [name, Math.round(value)]),
  );
}
