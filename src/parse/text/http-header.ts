import type { HttpData } from '../../model/observation.ts';

/** Node's `maxHeaderSize`, which its fetch has too: names and values, without what stands between. */
const NODE_HEAD_BYTES = 16_384;

/** All values of a header, by its lower-case name, as received. */
export function headerValues(answer: HttpData, name: string): readonly string[] {
  return answer.headers.filter(([header]) => header === name).map(([, value]) => value);
}

/** The first value of a header, by its lower-case name; null where absent. */
export function headerValue(answer: HttpData, name: string): string | null {
  return headerValues(answer, name)[0] ?? null;
}

/** Whether Node's fetch gives up on the head of an answer; each character of it is one byte. */
export function isLongHead({ headers }: HttpData): boolean {
  return (
    headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0) >= NODE_HEAD_BYTES
  );
}
