const DAY_MS = 86_400_000;

/** Days between two instants (ISO 8601), never below 0; null when one is missing. */
export function daysBefore(until: string, instant: string | null): number | null {
  const ms = Date.parse(until) - Date.parse(instant ?? '');
  return Number.isNaN(ms) ? null : Math.max(0, ms / DAY_MS);
}
