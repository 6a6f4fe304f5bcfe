const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Parses an instant in strict ISO 8601 with an offset (`Z` or `+02:00`). Returns whole milliseconds since the epoch;
 * null for any other text, and for a day that does not exist.
 */
export function parseInstant(text: string): number | null {
  const match = INSTANT.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match;
  // The Date constructor reads 30 February as 2 March.
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

const DAY_MS = 86_400_000;

/** Returns the days from `instant` to `until` (ISO 8601), at least 0; null if `instant` is missing. */
export function daysBefore(until: string, instant: string | null): number | null {
  const ms = Date.parse(until) - Date.parse(instant ?? '');
  return Number.isNaN(ms) ? null : Math.max(0, ms / DAY_MS);
}
