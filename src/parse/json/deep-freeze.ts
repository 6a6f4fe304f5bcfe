/**
 * Freezes a value with everything in it, and returns it. Without recursion: values come from
 * documents. What is frozen already is taken to be frozen throughout, so shared parts cost once.
 */
export function deepFreeze<T>(value: T): T {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const member of Object.values(next)) waiting.push(member);
  }
  return value;
}
