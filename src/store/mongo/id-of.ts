/** One string for several parts; different parts never make the same string. */
export function idOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}
