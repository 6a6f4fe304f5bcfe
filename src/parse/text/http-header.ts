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
