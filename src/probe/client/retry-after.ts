/** The Retry-After header as milliseconds from now (RFC 9110, section 10.2.3). */
import type { Answer } from './exchange.ts';

/**
 * Reads the wait that an answer asks for: `Retry-After` in seconds or as a date (RFC 9110, 10.2.3).
 * Null where it does not say.
 */
export function retryAfterMs({ headers }: Pick<Answer, 'headers'>, now: number): number | null {
  const value = headers.find(([name]) => name === 'retry-after')?.[1] ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  // Date.parse takes nearly anything; HTTP dates name the zone.
  const date = value.length <= 40 && value.endsWith(' GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
