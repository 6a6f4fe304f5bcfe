import type { HttpData } from '../../model/observation.ts';

/** Returns all values of a header. `name` is in lower case. */
export function headerValues(answer: Pick<HttpData, 'headers'>, name: string): readonly string[] {
  return answer.headers.filter(([header]) => header === name).map(([, value]) => value);
}

/** Returns the first value of a header; null if it is absent. `name` is in lower case. */
export function headerValue(answer: Pick<HttpData, 'headers'>, name: string): string | null {
  return headerValues(answer, name)[0] ?? null;
}

/** Counts the bytes of all header names and values. Node decodes headers as Latin-1, so a character is a byte. */
export function countHeadBytes({ headers }: HttpData): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

/**
 * Reads `Retry-After`, which is in seconds or a date (RFC 9110, 10.2.3). Returns milliseconds from `nowMs`; null if
 * the header is absent or unreadable.
 */
export function readRetryAfterMs(
  { headers }: Pick<HttpData, 'headers'>,
  nowMs: number,
): number | null {
  const value = headerValue({ headers }, 'retry-after') ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  // Date.parse accepts nearly any text, so only a text that ends like an HTTP date is parsed.
  const dateMs = value.length <= 40 && value.endsWith(' GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
}
