import type { HttpData } from '../../model/observation.ts';

/** Returns all values of a header as received, by its lower-case name. */
export function headerValues(answer: HttpData, name: string): readonly string[] {
  return answer.headers.filter(([header]) => header === name).map(([, value]) => value);
}

/** Returns the first value of a header, by its lower-case name; null when absent. */
export function headerValue(answer: HttpData, name: string): string | null {
  return headerValues(answer, name)[0] ?? null;
}

/** Bytes of the names and values of all headers, by Node's count; each character is one byte. */
export function headBytes({ headers }: HttpData): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

/**
 * Reads the wait that an answer asks for: `Retry-After` in seconds or as a date (RFC 9110, 10.2.3).
 * Milliseconds from `now`; null if it says nothing of the kind.
 */
export function retryAfterMs({ headers }: Pick<HttpData, 'headers'>, now: number): number | null {
  const value = headers.find(([name]) => name === 'retry-after')?.[1] ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  // Date.parse takes nearly anything; HTTP dates name the zone.
  const date = value.length <= 40 && value.endsWith(' GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
